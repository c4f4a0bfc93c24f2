/** Where to go after signing in: a path of this app, never another site. */
export function nextPath(search: string): string {
  const next = new URLSearchParams(search).get("next");
  if (next === null || !next.startsWith("/") || /^\/[/\\]/.test(next)) return "/";
  return next.startsWith("/sign-in") ? "/" : next;
}

export function signInPath(from: { pathname: string; search: string; hash: string }): string {
  const path = from.pathname + from.search + from.hash;
  return path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`;
}
