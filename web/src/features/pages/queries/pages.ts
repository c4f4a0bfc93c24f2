import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "@/shared/api/client";
import type { Page, PageChange, PageMarkdown } from "../types";

export const pageKey = (slugId: string) => ["page", slugId] as const;

export function usePage(slugId: string) {
  return useQuery({
    queryKey: pageKey(slugId),
    queryFn: ({ signal }) => api.get<Page>(`/v1/pages/${encodeURIComponent(slugId)}`, { signal }),
    enabled: slugId !== "",
  });
}

export function fetchMarkdown(id: string, signal?: AbortSignal): Promise<PageMarkdown> {
  const query = { format: "markdown" };
  return api.get<PageMarkdown>(`/v1/pages/${id}`, signal ? { query, signal } : { query });
}

/** What the editor starts from: never from the cache, so that the base version is the newest. */
export function usePageMarkdown(id: string) {
  return useQuery({
    queryKey: ["page-markdown", id],
    queryFn: ({ signal }) => fetchMarkdown(id, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: "always",
  });
}

/** Titles and content may stand in any open list, so a write renews them all. */
export function useRefreshPages() {
  const client = useQueryClient();
  return async () => {
    await Promise.all([
      client.invalidateQueries({ queryKey: ["page"] }),
      client.invalidateQueries({ queryKey: ["tree"] }),
      client.invalidateQueries({ queryKey: ["search"] }),
    ]);
  };
}

export function useCreatePage() {
  const refresh = useRefreshPages();
  return useMutation({
    mutationFn: (body: {
      spaceId: string;
      parentPageId: string | null;
      title: string;
      markdown: string;
    }) => api.post<Page>("/v1/pages", body),
    onSuccess: () => void refresh(),
  });
}

export function useSavePage(id: string) {
  const refresh = useRefreshPages();
  return useMutation({
    mutationFn: (change: PageChange) => api.patch<Page>(`/v1/pages/${id}`, change),
    onSuccess: refresh,
  });
}

export function useDeletePage() {
  const refresh = useRefreshPages();
  return useMutation({
    mutationFn: (id: string) => api.delete<void>(`/v1/pages/${id}`),
    onSuccess: () => void refresh(),
  });
}

export function useRestorePage() {
  const refresh = useRefreshPages();
  return useMutation({
    mutationFn: (id: string) => api.post<Page>(`/v1/pages/${id}/restore`),
    onSuccess: () => void refresh(),
  });
}
