import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useChatUi } from "../chatUi";
import { useChatRoute } from "../hooks/useChatRoute";
import { ChatHeader } from "./ChatHeader";
import { ChatList } from "./ChatList";
import { ChatSession } from "./ChatSession";

/** The open chat, beside a page or as a page of its own: one conversation in either place. */
export default function ChatHost({ asPage }: { asPage: boolean }) {
  const { t } = useTranslation();
  const { active } = useChatUi();
  const [listOpen, setListOpen] = useState(false);
  useChatRoute(asPage);
  const showList = asPage || listOpen;
  return (
    <section
      className="chat-host"
      data-as-page={asPage || undefined}
      data-list={listOpen || undefined}
      aria-label={t("chat.title")}
    >
      <ChatHeader
        asPage={asPage}
        listOpen={listOpen}
        onToggleList={() => setListOpen(!listOpen)}
        onNew={() => setListOpen(false)}
      />
      <div className="chat-body">
        {showList ? <ChatList onOpen={() => setListOpen(false)} /> : null}
        <ChatSession key={active.key} active={active} />
      </div>
    </section>
  );
}
