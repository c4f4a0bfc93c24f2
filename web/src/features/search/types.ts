export interface SearchHit {
  pageId: string;
  title: string;
  spaceId: string;
  spaceName: string;
  snippet: string;
  url: string;
  headingPath: string[] | string | null;
}

export interface SearchAnswer {
  items: SearchHit[];
  mode: string;
  note?: string | null;
}
