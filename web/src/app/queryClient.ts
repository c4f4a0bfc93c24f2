import { QueryClient } from "@tanstack/react-query";
import { SESSION_KEY } from "@/features/auth/queries/session";
import { whenSignedOut } from "@/shared/api/client";
import { ApiError } from "@/shared/api/errors";

const RETRIES = 2; // of a request that got no answer, or that the server could not serve now

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => {
          const temporary = error instanceof ApiError && (error.status === 0 || error.status >= 500);
          return temporary && failures < RETRIES;
        },
      },
    },
  });
  whenSignedOut(() => client.setQueryData(SESSION_KEY, null));
  return client;
}
