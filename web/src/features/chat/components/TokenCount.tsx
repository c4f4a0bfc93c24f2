import { useTranslation } from "react-i18next";
import { useChatUi } from "../chatUi";
import { useChatSummary } from "../queries/chats";

const NEARLY = 0.9; // of the ceiling: worth a warning

/** How much of its tokens a chat has used, where there is a ceiling. */
export function TokenCount() {
  const { t, i18n } = useTranslation();
  const { active } = useChatUi();
  const chat = useChatSummary(active.chatId);
  if (!chat?.tokenCeiling) return null;
  const used = chat.tokensUsed ?? 0;
  const exact = new Intl.NumberFormat(i18n.language);
  const short = new Intl.NumberFormat(i18n.language, { notation: "compact" });
  const text = (format: Intl.NumberFormat) => ({
    used: format.format(used),
    ceiling: format.format(chat.tokenCeiling ?? 0),
  });
  return (
    <span
      className="token-count"
      data-nearly={used >= chat.tokenCeiling * NEARLY || undefined}
      title={t("chat.tokensHint", text(exact))}
    >
      {t("chat.tokens", text(short))}
    </span>
  );
}
