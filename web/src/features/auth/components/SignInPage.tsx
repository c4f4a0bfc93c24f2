import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, useLocation, useNavigate } from "react-router";
import { LanguageMenu } from "@/app/layout/LanguageMenu";
import { Logo } from "@/app/layout/Logo";
import { nextPath } from "../nextPath";
import { useSession } from "../queries/session";
import { LinkSignIn } from "./LinkSignIn";
import { PasswordForm } from "./PasswordForm";

export function SignInPage() {
  const { t } = useTranslation();
  const session = useSession();
  const location = useLocation();
  const [token, setToken] = useOneTimeToken();
  useEffect(() => {
    document.title = `${t("auth.title")} · ${t("app.name")}`;
  }, [t]);

  if (session.data && token === null) return <Navigate to={nextPath(location.search)} replace />;
  return (
    <main className="sign-in">
      <section className="sign-in-card" aria-labelledby="sign-in-title">
        <Logo size={40} />
        <h1 id="sign-in-title">{t("auth.title")}</h1>
        <p className="muted">{t("auth.lead")}</p>
        {token === null ? (
          <PasswordForm />
        ) : (
          <LinkSignIn token={token} onDone={() => setToken(null)} />
        )}
      </section>
      <LanguageMenu />
    </main>
  );
}

/** Takes `?token=` out of the address bar and the history entry as soon as it is read. */
function useOneTimeToken() {
  const location = useLocation();
  const navigate = useNavigate();
  const search = new URLSearchParams(location.search);
  const shown = search.get("token");
  const [token, setToken] = useState(shown);
  useEffect(() => {
    if (shown === null) return;
    setToken(shown);
    const rest = new URLSearchParams(location.search);
    rest.delete("token");
    void navigate({ pathname: location.pathname, search: rest.toString() }, { replace: true });
  }, [shown, location.pathname, location.search, navigate]);
  return [token, setToken] as const;
}
