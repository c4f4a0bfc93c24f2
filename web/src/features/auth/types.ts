export type Role = "owner" | "admin" | "member";

export interface User {
  id: string;
  email: string;
  name: string;
  role: Role;
}

export interface Session {
  user: User;
  workspace: { id: string; name: string };
}
