import type { Session } from "@/features/auth/types";

/** Owners and admins choose the models; the server checks it too. */
export function mayConfigure(session: Session | null | undefined): boolean {
  return session?.user.role === "owner" || session?.user.role === "admin";
}
