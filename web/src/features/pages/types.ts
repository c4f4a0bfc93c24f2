import type { DocNode } from "@/features/document/types";

export interface PageRef {
  title: string;
  slugId: string;
}

export interface Page extends PageRef {
  id: string;
  spaceId: string;
  parentPageId: string | null;
  url: string;
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
