import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type Listing, api } from "@/shared/api/client";
import type { Space, TreePage } from "../types";

const TREE_PAGE = 100; // the most that one request may ask for

async function fetchSpaces(signal: AbortSignal): Promise<Space[]> {
  const spaces: Space[] = [];
  let cursor: string | null = null;
  do {
    const query: Record<string, string | number | null> = { limit: 100, cursor };
    const page: Listing<Space> = await api.get("/v1/spaces", { query, signal });
    spaces.push(...page.items);
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return spaces;
}

export function useSpaces() {
  return useQuery({
    queryKey: ["spaces"],
    queryFn: ({ signal }) => fetchSpaces(signal),
    staleTime: 60_000,
  });
}

/** The space of a browser path; undefined while loading and when there is none. */
export function useSpaceBySlug(slug: string | undefined): Space | undefined {
  return useSpaces().data?.find((space) => space.slug === slug);
}

export function mayWrite(space: Space | undefined): boolean {
  return space !== undefined && space.role !== "reader";
}

/** One level of a space's tree, page by page. */
export function useTreeLevel(spaceId: string, parentPageId: string | null, enabled = true) {
  return useInfiniteQuery({
    queryKey: ["tree", spaceId, parentPageId],
    enabled,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<Listing<TreePage>>(`/v1/spaces/${spaceId}/tree`, {
        query: { parentPageId, cursor: pageParam, limit: TREE_PAGE },
        signal,
      }),
    getNextPageParam: (last) => last.nextCursor,
    select: (data) => data.pages.flatMap((page) => page.items),
    staleTime: 30_000,
  });
}
