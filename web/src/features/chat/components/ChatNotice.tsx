import { Alert, Button, Loader } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "react-router";
import { signInPath } from "@/features/auth/nextPath";
import { AlertIcon } from "@/shared/ui/icons";
import type { useConversation } from "../hooks/useConversation";
import { type ChatError, type ErrorKind, canRetry } from "../lib/chatErrors";

const WITH_HINT = {
  network: "networkHint",
  auth: "authHint",
  notConfigured: "notConfiguredHint",
  rateLimit: "rateLimitHint",
  tooLong: "tooLongHint",
  running: "runningHint",
} as const satisfies Partial<Record<ErrorKind, string>>;

/** What stands between the reader and the answer, and what can be done about it. */
export function ChatNotice({ chat }: { chat: ReturnType<typeof useConversation> }) {
  const { t } = useTranslation();
  if (chat.connection === "reconnecting") {
    return (
      <p className="chat-notice" role="status">
        <Loader size={14} /> {t("chat.interrupted")} {t("chat.reconnecting")}
      </p>
    );
  }
  if (chat.connection === "lost") {
    return (
      <Alert color="orange" role="alert" icon={<AlertIcon />} title={t("chat.interrupted")}>
        <Button size="compact-sm" variant="filled" color="orange" onClick={chat.reconnect}>
          {t("chat.reconnect")}
        </Button>
      </Alert>
    );
  }
  if (chat.connection === "unsent") return <Failure failure={UNSENT} onRetry={chat.retry} />;
  if (chat.failure === null) return null;
  return <Failure failure={chat.failure} onRetry={chat.retry} />;
}

const UNSENT: ChatError = { kind: "network", text: null, retry: "resend" };

function Failure({ failure, onRetry }: { failure: ChatError; onRetry: () => void }) {
  const { t } = useTranslation();
  const location = useLocation();
  const { kind, text } = failure;
  const hint = kind in WITH_HINT ? t(`chatError.${WITH_HINT[kind as keyof typeof WITH_HINT]}`) : text;
  return (
    <Alert color="red" role="alert" icon={<AlertIcon />} title={t(`chatError.${kind}`)}>
      {hint ? <p>{hint}</p> : null}
      {kind === "auth" ? (
        <Button size="compact-sm" variant="filled" color="red" component={Link} to={signInPath(location)}>
          {t("chatError.signIn")}
        </Button>
      ) : null}
      {canRetry(kind) ? (
        <Button size="compact-sm" variant="filled" color="red" onClick={onRetry}>
          {failure.retry === "follow" ? t("chatError.follow") : t("app.retry")}
        </Button>
      ) : null}
    </Alert>
  );
}
