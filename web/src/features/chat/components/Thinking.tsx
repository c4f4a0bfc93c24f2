import { Loader } from "@mantine/core";
import { useTranslation } from "react-i18next";

/** `waiting`: something of the answer is there, and nothing new has come for a while. */
export function Thinking({ waiting }: { waiting: boolean }) {
  const { t } = useTranslation();
  return (
    <div className="thinking" role={waiting ? "status" : undefined}>
      <Loader type="dots" size="sm" aria-hidden="true" />
      <span>{t(waiting ? "chat.waiting" : "chat.thinking")}</span>
    </div>
  );
}
