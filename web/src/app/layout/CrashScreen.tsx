import { useRouteError } from "react-router";
import { ErrorState } from "@/shared/ui/States";

/** Something in the interface itself failed: the rest of the data is safe on the server. */
export function CrashScreen() {
  return <ErrorState error={useRouteError()} onRetry={() => window.location.reload()} />;
}
