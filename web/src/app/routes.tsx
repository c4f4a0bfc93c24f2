import { lazy, type ReactNode, Suspense } from "react";
import { createBrowserRouter } from "react-router";
import { RequireSession } from "@/features/auth/components/RequireSession";
import { SignInPage } from "@/features/auth/components/SignInPage";
import { PageRedirect } from "@/features/pages/components/PageRedirect";
import { PageScreen } from "@/features/pages/components/PageScreen";
import { HomePage } from "@/features/spaces/components/HomePage";
import { SpacePage } from "@/features/spaces/components/SpacePage";
import { TextSkeleton } from "@/shared/ui/States";
import { CrashScreen } from "./layout/CrashScreen";
import { Layout } from "./layout/Layout";
import { NotFound } from "./layout/NotFound";

const HistoryScreen = lazy(() => import("@/features/pages/components/HistoryScreen"));
const AiSettingsScreen = lazy(() => import("@/features/settings/components/AiSettingsScreen"));

const whenLoaded = (screen: ReactNode) => (
  <Suspense fallback={<TextSkeleton lines={8} />}>{screen}</Suspense>
);

export const router = createBrowserRouter([
  {
    errorElement: <CrashScreen />,
    children: [
      { path: "/sign-in", element: <SignInPage /> },
      {
        element: <RequireSession />,
        children: [
          {
            element: <Layout />,
            children: [
              { path: "/", element: <HomePage /> },
              { path: "/s/:spaceSlug", element: <SpacePage /> },
              { path: "/s/:spaceSlug/p/:pageName", element: <PageScreen /> },
              { path: "/s/:spaceSlug/p/:pageName/history", element: whenLoaded(<HistoryScreen />) },
              { path: "/p/:pageId", element: <PageRedirect /> },
              { path: "/settings/ai", element: whenLoaded(<AiSettingsScreen />) },
              // The layout shows the chat itself, so that it lives on beside the pages.
              { path: "/chat/:chatId?", element: null },
              { path: "*", element: <NotFound /> },
            ],
          },
        ],
      },
    ],
  },
]);
