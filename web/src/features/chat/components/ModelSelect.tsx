import { notifications } from "@mantine/notifications";
import { useTranslation } from "react-i18next";
import { messageOf } from "@/shared/ui/States";
import { chooseModel, useChatUi } from "../chatUi";
import { useChangeChat, useChatSummary } from "../queries/chats";
import { useModels } from "../queries/models";

/** Which model answers in this chat; nothing where there is nothing to choose. */
export function ModelSelect() {
  const { t } = useTranslation();
  const { active } = useChatUi();
  const chat = useChatSummary(active.chatId);
  const change = useChangeChat();
  const { data } = useModels();
  if (!data?.showModelSelector || data.items.length < 2) return null;
  const names = data.items.map(({ model }) => model);
  const chosen = [active.model, chat?.model].find((name) => name && names.includes(name));

  function choose(model: string) {
    chooseModel(model);
    if (active.chatId === null) return;
    const onError = (error: Error) =>
      notifications.show({ color: "red", title: t("app.error"), message: messageOf(error) });
    change.mutate({ id: active.chatId, model }, { onError });
  }

  return (
    <select
      className="model-select"
      aria-label={t("chat.model")}
      title={t("chat.model")}
      value={chosen ?? names[0]}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {data.items.map(({ model, isDefault }) => (
        <option key={model} value={model}>
          {isDefault ? t("chat.modelDefault", { model }) : model}
        </option>
      ))}
    </select>
  );
}
