import { useTranslation } from "react-i18next";
import { Markdown } from "@/shared/ui/Markdown";
import { BulbIcon, ChevronIcon } from "@/shared/ui/icons";

export function Reasoning({ text, live }: { text: string; live: boolean }) {
  const { t } = useTranslation();
  return (
    <details className="reasoning" data-live={live || undefined}>
      <summary>
        <BulbIcon size={15} />
        {live ? t("chat.reasoningLive") : t("chat.reasoning")}
        <ChevronIcon size={13} className="summary-chevron" />
      </summary>
      <Markdown text={text} live={live} />
    </details>
  );
}
