import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "@/shared/api/client";
import type { SearchAnswer } from "../types";

const RESULTS = 10;

/** Searches while a person types: a newer text cancels the request of the older one. */
export function useSearch(text: string) {
  const q = text.trim();
  return useQuery({
    queryKey: ["search", q],
    enabled: q !== "",
    queryFn: ({ signal }) =>
      api.get<SearchAnswer>("/v1/search", { query: { q, limit: RESULTS }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    retry: false,
  });
}
