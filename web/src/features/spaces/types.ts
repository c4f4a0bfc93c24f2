import type { PageRef } from "@/features/pages/types";

export type SpaceRole = "admin" | "writer" | "reader";

export interface Space {
  id: string;
  name: string;
  slug: string;
  role: SpaceRole;
}

export interface TreePage extends PageRef {
  id: string;
  parentPageId: string | null;
  hasChildren: boolean;
}
