import { useQueryClient } from "@tanstack/react-query";
import { useRefreshPages } from "@/features/pages/queries/pages";
import { foldParts } from "../lib/foldParts";
import { isWrite } from "../lib/tools";
import { CHATS_KEY } from "../queries/chats";
import type { ChatMessage } from "../types";

/** A turn may have made a chat, named it, or written pages: what shows them is read again. */
export function useAfterTurn() {
  const client = useQueryClient();
  const refreshPages = useRefreshPages();
  return (message: ChatMessage) => {
    void client.invalidateQueries({ queryKey: CHATS_KEY });
    const wrote = foldParts(message.parts, false).segments.some(
      (segment) =>
        segment.kind === "tools" &&
        segment.tools.some((tool) => tool.state === "ok" && isWrite(tool.name)),
    );
    if (wrote) void refreshPages();
  };
}
