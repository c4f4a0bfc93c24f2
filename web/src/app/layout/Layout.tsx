import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Outlet, useLocation } from "react-router";
import { hideChat, useChatUi } from "@/features/chat/chatUi";
import { NewPageDialog } from "@/features/pages/components/NewPageDialog";
import { Sidebar } from "@/features/spaces/components/Sidebar";
import { patiently } from "@/shared/lib/patiently";
import { onPhone } from "@/shared/lib/phone";
import { TextSkeleton } from "@/shared/ui/States";
import { Header } from "./Header";

const ChatHost = lazy(() => patiently(() => import("@/features/chat/components/ChatHost")));


export function Layout() {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const { dockOpen } = useChatUi();
  const [menuOpen, setMenuOpen] = useState(false);
  const chatPage = pathname === "/chat" || pathname.startsWith("/chat/");
  const shownPath = useRef(pathname);
  useEffect(() => {
    setMenuOpen(false);
    if (shownPath.current === pathname) return;
    shownPath.current = pathname;
    // On a phone the open chat would cover the page that a link in it leads to.
    if (!chatPage && onPhone()) hideChat();
  }, [pathname, chatPage]);

  return (
    <div
      className="app"
      data-chat={chatPage ? "page" : dockOpen ? "dock" : undefined}
      data-menu={menuOpen || undefined}
    >
      <a className="skip-link" href="#content">
        {t("app.skip")}
      </a>
      <Header menuOpen={menuOpen} chatPage={chatPage} onToggleMenu={() => setMenuOpen(!menuOpen)} />
      <div className="app-sidebar">
        <Sidebar />
      </div>
      {chatPage ? null : (
        <main id="content" className="app-main" tabIndex={-1}>
          <Outlet />
        </main>
      )}
      {chatPage || dockOpen ? (
        // One element in both places: another one would start the conversation anew.
        <div
          id={chatPage ? "content" : undefined}
          role={chatPage ? "main" : "complementary"}
          aria-label={t("chat.title")}
          className="app-chat"
          tabIndex={-1}
        >
          <Suspense fallback={<TextSkeleton />}>
            <ChatHost asPage={chatPage} />
          </Suspense>
        </div>
      ) : null}
      <NewPageDialog />
    </div>
  );
}
