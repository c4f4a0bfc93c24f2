import { ActionIcon, Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { CloseIcon } from "@/shared/ui/icons";
import type { Queueing } from "../hooks/useQueueing";
import { useQueueTexts } from "../hooks/useQueueTexts";
import type { QueuedItem } from "../types";

interface Props {
  queueing: Queueing;
  /** An answer is being written. */
  busy: boolean;
}

/** What waits to be sent, above the input, and what is waited for. */
export function QueuedMessages({ queueing, busy }: Props) {
  const { t } = useTranslation();
  const { items, held } = queueing;
  if (items.length === 0) return null;
  const failed = items[0]?.error !== null;
  return (
    <section className="queue" aria-label={t("chat.queue.label")}>
      <p className="queue-note">
        {!held ? t("chat.queue.waits") : failed ? t("chat.queue.failed") : t("chat.queue.held")}
      </p>
      <ul>
        {items.map((item) => (
          <Queued key={item.id} item={item} busy={busy} queueing={queueing} />
        ))}
      </ul>
    </section>
  );
}

function Queued({ item, busy, queueing }: Props & { item: QueuedItem }) {
  const { t } = useTranslation();
  const { reason, failure } = useQueueTexts();
  const [pending, setPending] = useState<"now" | "remove" | null>(null);

  function act(what: "now" | "remove") {
    setPending(what);
    queueing[what](item.id)
      .catch((error: unknown) =>
        notifications.show({ color: "red", title: t("app.error"), message: failure(error) }),
      )
      .finally(() => setPending(null));
  }

  return (
    <li className="queue-item" data-bad={item.error !== null || undefined}>
      <div className="queue-words">
        <p title={item.text}>{item.text}</p>
        {item.error === null ? null : <p className="queue-error">{reason(item.error)}</p>}
      </div>
      <Button
        size="compact-xs"
        variant="subtle"
        loading={pending === "now"}
        title={busy ? t("chat.queue.nowHint") : undefined}
        onClick={() => act("now")}
      >
        {item.error === null ? t("chat.queue.now") : t("app.retry")}
      </Button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        loading={pending === "remove"}
        aria-label={t("chat.queue.remove")}
        title={t("chat.queue.remove")}
        onClick={() => act("remove")}
      >
        <CloseIcon size={14} />
      </ActionIcon>
    </li>
  );
}
