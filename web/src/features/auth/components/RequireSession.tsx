import { Navigate, Outlet, useLocation } from "react-router";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { signInPath } from "../nextPath";
import { useSession } from "../queries/session";

/** Shows its routes to a signed-in person and sends everybody else to sign in. */
export function RequireSession() {
  const session = useSession();
  const location = useLocation();
  if (session.isPending) {
    return (
      <div className="centered">
        <TextSkeleton />
      </div>
    );
  }
  if (session.isError) {
    return <ErrorState error={session.error} onRetry={() => void session.refetch()} />;
  }
  if (session.data === null) return <Navigate to={signInPath(location)} replace />;
  return <Outlet />;
}
