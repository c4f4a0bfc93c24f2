import type { DocNode } from "@/features/document/types";

export interface PageRef {
  title: string;
  slugId: string;
  /** The page's address as the server spells it; absent where a list does not tell. */
  url?: string | null;
}

export interface Page extends PageRef {
  id: string;
  spaceId: string;
  parentPageId: string | null;
  content: DocNode;
  version: number;
  updatedAt: string;
  lastUpdatedSource: "user" | "agent";
  lastUpdatedAiChatId?: string | null;
}

export interface PageMarkdown extends Omit<Page, "content"> {
  markdown: string;
}

export interface PageChange {
  title: string;
  markdown: string;
  baseVersion: number;
}
