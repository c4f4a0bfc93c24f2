import { useEffect } from "react";
import { useLocation, useNavigate, useParams } from "react-router";
import { chatUi, newChat, openChat, showChat, useChatUi } from "../chatUi";

export const chatPath = (chatId: string | null) =>
  chatId === null ? "/chat" : `/chat/${encodeURIComponent(chatId)}`;

/** On the chat's own page the address names the open chat, whichever of the two changes. */
export function useChatRoute(asPage: boolean): void {
  const { chatId } = useParams();
  const location = useLocation();
  const navigate = useNavigate();
  const { active } = useChatUi();

  useEffect(() => {
    if (!asPage) return;
    showChat(); // stays open beside the page that a citation leads to
    if (chatId !== undefined) openChat(chatId);
    else if (chatUi().active.chatId !== null) newChat();
  }, [asPage, chatId, location.key]);

  useEffect(() => {
    if (!asPage) return;
    // Read now: the effect above may have changed it.
    const path = chatPath(chatUi().active.chatId);
    if (window.location.pathname !== path) void navigate(path, { replace: true });
  }, [asPage, active.key, active.chatId, navigate]);
}
