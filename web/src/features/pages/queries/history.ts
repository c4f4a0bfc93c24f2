import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type Listing, api } from "@/shared/api/client";
import type { PageVersion, PageVersionText } from "../types";

const VERSIONS = 30; // of one request

/** A page's versions, newest first, as far as they were asked for. */
export function useHistory(pageId: string) {
  return useInfiniteQuery({
    queryKey: ["page", "history", pageId],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<Listing<PageVersion>>(`/v1/pages/${pageId}/history`, {
        query: { cursor: pageParam, limit: VERSIONS },
        signal,
      }),
    getNextPageParam: (last) => last.nextCursor,
    select: (data) => data.pages.flatMap((page) => page.items),
  });
}

/** One version with its content, which never changes; 0 asks for none. */
export function useVersion(pageId: string, version: number) {
  return useQuery({
    queryKey: ["page-version", pageId, version],
    enabled: version > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      api.get<PageVersionText>(`/v1/pages/${pageId}/history/${version}`, { signal }),
  });
}
