import { Alert, Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "react-router";
import { signInPath } from "@/features/auth/nextPath";
import { useSession } from "@/features/auth/queries/session";
import { AlertIcon } from "@/shared/ui/icons";
import { newChat } from "../chatUi";
import { useFailureTexts } from "../hooks/useFailureTexts";
import { type ChatError, canRetry, isForAdmins, needsNewChat } from "../lib/chatErrors";

const SETTINGS = "/settings/ai";

/** Why there is no answer, and what can be done about it. */
export function Failure({ failure, onRetry }: { failure: ChatError; onRetry: () => void }) {
  const { t } = useTranslation();
  const location = useLocation();
  const isAdmin = useIsAdmin();
  const { title, advice, missing, detail } = useFailureTexts(failure, isAdmin);
  const left = useCountdown(failure);
  const { kind, retry } = failure;
  const button = { size: "compact-sm", color: "red.9" } as const;
  return (
    <Alert className="failure" color="red" role="alert" icon={<AlertIcon />} title={title}>
      <p>{advice}</p>
      {missing === null ? null : <p>{missing}</p>}
      {detail === null ? null : <p className="failure-detail">{detail}</p>}
      <div className="failure-actions">
        {kind === "auth" ? (
          <Button {...button} component={Link} to={signInPath(location)}>
            {t("chatError.signIn")}
          </Button>
        ) : null}
        {isForAdmins(kind) && isAdmin ? (
          <Button {...button} component={Link} to={SETTINGS}>
            {t("chatError.openSettings")}
          </Button>
        ) : null}
        {needsNewChat(kind) ? (
          <Button {...button} onClick={newChat}>
            {t("chat.new")}
          </Button>
        ) : null}
        {canRetry(kind) ? (
          <Button
            {...button}
            variant={isForAdmins(kind) && isAdmin ? "default" : "filled"}
            disabled={left > 0}
            onClick={onRetry}
          >
            {retry === "follow"
              ? t("chatError.follow")
              : left > 0
                ? t("chatError.retryIn", { seconds: left })
                : t("app.retry")}
          </Button>
        ) : null}
      </div>
    </Alert>
  );
}

function useIsAdmin(): boolean {
  const role = useSession().data?.user.role;
  return role === "owner" || role === "admin";
}

/** Whole seconds until another try is let in. */
function useCountdown(failure: ChatError): number {
  const [left, setLeft] = useState(failure.wait ?? 0);
  useEffect(() => {
    setLeft(failure.wait ?? 0);
    if (failure.wait === null) return;
    const timer = window.setInterval(() => setLeft((seconds) => Math.max(0, seconds - 1)), 1000);
    return () => window.clearInterval(timer);
  }, [failure]);
  return left;
}
