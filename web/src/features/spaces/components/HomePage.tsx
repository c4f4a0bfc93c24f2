import { Button } from "@mantine/core";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { useSession } from "@/features/auth/queries/session";
import { showChat } from "@/features/chat/chatUi";
import { spacePath } from "@/features/pages/pageUrl";
import { AiSetupCard } from "@/features/settings/components/AiSetupCard";
import { ChatIcon, PageIcon } from "@/shared/ui/icons";
import { EmptyState, ErrorState, TextSkeleton } from "@/shared/ui/States";
import { useSpaces } from "../queries/spaces";

export function HomePage() {
  const { t } = useTranslation();
  const { data: session } = useSession();
  const spaces = useSpaces();
  useEffect(() => {
    document.title = session?.workspace.name || t("app.name");
  }, [session, t]);

  if (spaces.isPending) return <TextSkeleton />;
  if (spaces.isError) {
    return <ErrorState error={spaces.error} onRetry={() => void spaces.refetch()} />;
  }
  if (spaces.data.length === 0) {
    return (
      <EmptyState
        icon={<PageIcon size={36} />}
        title={t("home.noSpaces")}
        hint={t("home.noSpacesHint")}
      />
    );
  }
  return (
    <article className="page-column">
      <h1>{t("home.welcome", { name: session?.user.name || session?.user.email })}</h1>
      <p className="muted">{t("home.lead")}</p>
      <AiSetupCard />
      <Button leftSection={<ChatIcon />} variant="light" onClick={showChat}>
        {t("home.ask")}
      </Button>
      <h2 className="section-title">{t("home.spaces")}</h2>
      <ul className="cards">
        {spaces.data.map((space) => (
          <li key={space.id}>
            <Link to={spacePath(space.slug)} className="card">
              <span className="card-mark" aria-hidden="true">
                {[...space.name][0]?.toUpperCase()}
              </span>
              {space.name}
            </Link>
          </li>
        ))}
      </ul>
    </article>
  );
}
