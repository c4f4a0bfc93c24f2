import { useTranslation } from "react-i18next";
import { AiSetupCard } from "@/features/settings/components/AiSetupCard";
import { SparkIcon } from "@/shared/ui/icons";
import { EmptyState } from "@/shared/ui/States";
import { useChatUi } from "../chatUi";

export function EmptyChat({ onAsk }: { onAsk: (text: string) => void }) {
  const { t } = useTranslation();
  const { page } = useChatUi();
  const suggestions = [
    ...(page === null ? [] : [t("chat.suggest2")]),
    t("chat.suggest1"),
    t("chat.suggest3"),
  ];
  return (
    <EmptyState icon={<SparkIcon size={34} />} title={t("chat.emptyTitle")} hint={t("chat.emptyLead")}>
      <AiSetupCard />
      <ul className="suggestions">
        {suggestions.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => onAsk(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </EmptyState>
  );
}
