import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "@/shared/api/client";
import type { Page } from "../types";
import { pageKey } from "./pages";

const MAX_DEPTH = 20; // a loop in the data must not become a loop of requests

/** The pages above a page, outermost first. */
export function useAncestors(page: Page | undefined) {
  const client = useQueryClient();
  return useQuery({
    queryKey: ["page", "ancestors", page?.parentPageId ?? null],
    enabled: page !== undefined,
    queryFn: async ({ signal }) => {
      const above: Page[] = [];
      let parent = page?.parentPageId ?? null;
      while (parent !== null && above.length < MAX_DEPTH) {
        const id: string = parent;
        const next: Page = await client.fetchQuery({
          queryKey: pageKey(id),
          queryFn: () => api.get<Page>(`/v1/pages/${id}`, { signal }),
          staleTime: 60_000,
        });
        above.unshift(next);
        parent = next.parentPageId;
      }
      return above;
    },
  });
}
