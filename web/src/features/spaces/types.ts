export type SpaceRole = "admin" | "writer" | "reader";

export interface Space {
  id: string;
  name: string;
  slug: string;
  role: SpaceRole | null;
}

export interface TreePage {
  id: string;
  title: string;
  slugId: string;
  parentPageId: string | null;
  hasChildren: boolean;
}
