import { useQueryClient } from "@tanstack/react-query";
import { useRefreshPages } from "@/features/pages/queries/pages";
import { foldParts } from "../lib/foldParts";
import { isWrite } from "../lib/tools";
import { CHATS_KEY } from "../queries/chats";
import type { ChatMessage } from "../types";

const TITLED_MS = [3_000, 10_000]; // a model gives a new chat its title after the first answer

/** A turn may have made a chat, named it, or written pages: what shows them is read again. */
export function useAfterTurn() {
  const client = useQueryClient();
  const refreshPages = useRefreshPages();
  const refreshChats = () => void client.invalidateQueries({ queryKey: CHATS_KEY });
  return (message: ChatMessage, isFirst: boolean) => {
    refreshChats();
    if (isFirst) for (const ms of TITLED_MS) window.setTimeout(refreshChats, ms);
    const wrote = foldParts(message.parts, false).segments.some(
      (segment) =>
        segment.kind === "tools" &&
        segment.tools.some((tool) => tool.state === "ok" && isWrite(tool.name)),
    );
    if (wrote) void refreshPages();
  };
}
