import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, withQuery } from "@/shared/api/client";
import type {
  AiSettings,
  AiSettingsPatch,
  AiStatus,
  CatalogueModel,
  TestBody,
  TestResult,
} from "../types";

const SETTINGS = "/v1/workspace/ai-settings";
const MODELS = "/v1/workspace/ai-models";
const SETTINGS_KEY = ["ai-settings"] as const;
const MODELS_KEY = ["ai-catalogue"] as const;
const PROGRESS_MS = 3000; // between looks at an index that is still behind

/** `watch` looks again while the index is behind. */
export function useAiSettings({ enabled, watch = false }: { enabled: boolean; watch?: boolean }) {
  return useQuery({
    queryKey: SETTINGS_KEY,
    enabled,
    queryFn: ({ signal }) => api.get<AiSettings>(SETTINGS, { signal }),
    refetchInterval: ({ state: { data } }) =>
      watch && data && (data.reindexing || data.indexedPages < data.totalPages) ? PROGRESS_MS : false,
  });
}

/** Whatever depends on the choice of models is asked for again. */
function useRenewed() {
  const client = useQueryClient();
  return () => {
    for (const queryKey of [["ai-status"], ["ai-models"]]) void client.invalidateQueries({ queryKey });
  };
}

export function useSaveSettings() {
  const client = useQueryClient();
  const renewed = useRenewed();
  return useMutation({
    mutationFn: (patch: AiSettingsPatch) => api.patch<AiSettings>(SETTINGS, patch),
    onSuccess: (saved) => {
      client.setQueryData(SETTINGS_KEY, saved);
      renewed();
    },
  });
}

export function useTestSettings() {
  return useMutation({
    mutationFn: (body: TestBody) => api.post<TestResult>(`${SETTINGS}/test`, body),
  });
}

/** How the workspace's model does, for everybody; whoever has just changed it looks again. */
export function useAiStatus() {
  return useQuery({
    queryKey: ["ai-status"],
    queryFn: ({ signal }) => api.get<AiStatus>("/v1/workspace/ai-status", { signal }),
    staleTime: 30_000,
  });
}

export function useCatalogue() {
  return useQuery({
    queryKey: MODELS_KEY,
    queryFn: ({ signal }) => api.get<{ items: CatalogueModel[] }>(MODELS, { signal }),
    select: ({ items }) => items,
  });
}

export function useSaveModel() {
  const client = useQueryClient();
  const renewed = useRenewed();
  return useMutation({
    mutationFn: (item: CatalogueModel) => api.put<CatalogueModel>(MODELS, item),
    onSuccess: renewed,
    onSettled: () => client.invalidateQueries({ queryKey: MODELS_KEY }),
  });
}

export function useRemoveModel() {
  const client = useQueryClient();
  const renewed = useRenewed();
  return useMutation({
    mutationFn: ({ driver, model }: CatalogueModel) =>
      api.delete<void>(withQuery(MODELS, { driver, model })),
    onSuccess: renewed,
    onSettled: () => client.invalidateQueries({ queryKey: MODELS_KEY }),
  });
}
