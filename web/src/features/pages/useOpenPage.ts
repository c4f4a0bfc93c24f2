import { useEffect } from "react";
import { setOpenPage } from "@/features/chat/chatUi";

/** The chat's questions are about this page while it is on the screen. */
export function useOpenPage(id: string, title: string): void {
  useEffect(() => {
    setOpenPage({ id, title });
    return () => setOpenPage(null);
  }, [id, title]);
}
