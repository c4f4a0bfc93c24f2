import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "@/shared/api/client";
import { isStatus } from "@/shared/api/errors";
import type { Session, User } from "../types";

export const SESSION_KEY = ["session"] as const;

async function fetchSession(signal: AbortSignal): Promise<Session | null> {
  try {
    return await api.get<Session>("/v1/auth/me", { signal });
  } catch (error) {
    if (isStatus(error, 401)) return null;
    throw error;
  }
}

/** The signed-in person, or null. */
export function useSession() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => fetchSession(signal),
    staleTime: 5 * 60_000,
  });
}

interface SignedIn {
  user: User;
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { email: string; password: string }) =>
      api.post<SignedIn>("/v1/auth/sign-in", body),
    onSuccess: () => client.resetQueries(),
  });
}

export function useSignInLink() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => api.post<SignedIn>("/v1/auth/sign-in-link", { token }),
    onSuccess: () => client.resetQueries(),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.post<void>("/v1/auth/sign-out"),
    onSuccess: () => {
      sessionStorage.clear();
      client.clear();
      client.setQueryData(SESSION_KEY, null);
    },
  });
}
