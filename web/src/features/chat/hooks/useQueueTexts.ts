import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/shared/api/errors";
import { messageOf } from "@/shared/ui/States";
import { kindOf } from "../lib/chatErrors";

/** Why a message could not be sent or let wait, in the reader's words where there are some. */
export function useQueueTexts() {
  const { t } = useTranslation();
  const reason = useCallback(
    ({ code, message }: { code: string; message: string }): string => {
      const kind = kindOf(code);
      return kind === undefined ? message : t(`chatError.${kind}.title`);
    },
    [t],
  );
  const failure = useCallback(
    (error: unknown) => (error instanceof ApiError ? reason(error) : messageOf(error)),
    [reason],
  );
  return { reason, failure };
}
