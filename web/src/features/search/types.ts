export interface SearchHit {
  pageId: string;
  title: string;
  spaceId: string;
  spaceName: string;
  snippet: string;
  url: string;
  headingPath: string[];
}

export interface SearchAnswer {
  items: SearchHit[];
  mode: "hybrid" | "text";
  note?: string | null;
}
