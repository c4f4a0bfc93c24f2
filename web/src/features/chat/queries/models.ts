import { useQuery } from "@tanstack/react-query";
import { api } from "@/shared/api/client";

export const MODELS_KEY = ["ai-models-offered"] as const;

interface Offered {
  /** The default first. */
  items: { model: string; isDefault: boolean }[];
  showModelSelector: boolean;
}

/** The models that a chat may use. */
export function useModels() {
  return useQuery({
    queryKey: MODELS_KEY,
    queryFn: ({ signal }) => api.get<Offered>("/v1/ai/models", { signal }),
    staleTime: 60_000,
  });
}
