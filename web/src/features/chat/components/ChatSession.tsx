import { useState } from "react";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import type { ActiveChat } from "../chatUi";
import { useFirstMessages } from "../queries/chats";
import { Conversation } from "./Conversation";

/** Loads a chat once, then hands it over to the live conversation. */
export function ChatSession({ active }: { active: ActiveChat }) {
  // What the chat was when it opened decides; it becomes known to the server while open.
  const [opened] = useState(active);
  const first = useFirstMessages(opened.chatId ?? opened.key, !opened.fresh);
  if (opened.fresh) return <Conversation active={active} initial={null} />;
  if (first.isPending) {
    return (
      <div className="conversation">
        <TextSkeleton lines={5} />
      </div>
    );
  }
  if (first.isError) {
    return <ErrorState error={first.error} onRetry={() => void first.refetch()} />;
  }
  return <Conversation active={active} initial={first.data} />;
}
