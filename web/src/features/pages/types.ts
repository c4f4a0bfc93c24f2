import type { DocNode } from "@/features/document/types";

export interface PageRef {
  title: string;
  slugId: string;
  /** The page's address as the server spells it; absent where a list does not tell. */
  url?: string | null;
}

export type Source = "user" | "agent";

export interface Author {
  id: string;
  name: string;
}

/** The chat in which the agent was asked; its id is told to its creator alone. */
export interface AiChat {
  id: string | null;
  mine: boolean;
}

/** A saved version of a page. The author is the person also when the agent wrote. */
export interface PageVersion {
  version: number;
  title: string;
  author: Author | null;
  lastUpdatedSource: Source;
  aiChat: AiChat | null;
  createdAt: string;
}

export interface PageVersionText extends PageVersion {
  content: DocNode;
  markdown: string;
}

export interface Page extends PageRef {
  id: string;
  spaceId: string;
  parentPageId: string | null;
  content: DocNode;
  version: number;
  updatedAt: string;
  /** Null when that person is gone. */
  lastUpdatedBy?: Author | null;
  lastUpdatedSource: Source;
  aiChat?: AiChat | null;
}

export interface PageMarkdown extends Omit<Page, "content"> {
  markdown: string;
}

export interface PageChange {
  title: string;
  markdown: string;
  baseVersion: number;
}
