import { notifications } from "@mantine/notifications";
import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api } from "@/shared/api/client";
import { messageOf } from "@/shared/ui/States";
import { stopUrl } from "../lib/transport";
import type { LiveChat } from "./useStoredMessages";

const PATIENCE_MS = 10_000; // the server stops within a second; after this the line is let go

/** Stops the turn on the server, whose own last chunks then end the stream here. */
export function useStop(chat: LiveChat, address: () => string) {
  const { t } = useTranslation();
  const [pending, setPending] = useState(false);
  const timer = useRef(0);
  const busy = chat.status === "submitted" || chat.status === "streaming";
  useEffect(() => {
    if (busy) return;
    window.clearTimeout(timer.current);
    setPending(false);
  }, [busy]);

  async function run() {
    setPending(true);
    try {
      await api.post<unknown>(stopUrl(address()));
      window.clearTimeout(timer.current);
      timer.current = window.setTimeout(() => void chat.stop(), PATIENCE_MS);
    } catch (error) {
      setPending(false);
      notifications.show({ color: "red", title: t("app.error"), message: messageOf(error) });
    }
  }
  const latest = useRef(run);
  latest.current = run;
  return { run: useCallback(() => void latest.current(), []), pending };
}
