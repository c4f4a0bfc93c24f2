import { ActionIcon, Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { useSession } from "@/features/auth/queries/session";
import { UserMenu } from "@/features/auth/components/UserMenu";
import { hideChat, showChat, useChatUi } from "@/features/chat/chatUi";
import { SearchBox } from "@/features/search/components/SearchBox";
import { ChatIcon, MenuIcon } from "@/shared/ui/icons";
import { LanguageMenu } from "./LanguageMenu";
import { Logo } from "./Logo";
import { ThemeButton } from "./ThemeButton";

interface Props {
  menuOpen: boolean;
  chatPage: boolean;
  onToggleMenu: () => void;
}

export function Header({ menuOpen, chatPage, onToggleMenu }: Props) {
  const { t } = useTranslation();
  const { dockOpen } = useChatUi();
  const { data: session } = useSession();
  return (
    <header className="app-header">
      <ActionIcon
        className="menu-toggle"
        variant="subtle"
        color="gray"
        aria-label={menuOpen ? t("app.closeMenu") : t("app.menu")}
        aria-expanded={menuOpen}
        onClick={onToggleMenu}
      >
        <MenuIcon />
      </ActionIcon>
      <Link to="/" className="brand">
        <Logo />
        <span>{session?.workspace.name || t("app.name")}</span>
      </Link>
      <SearchBox />
      <div className="header-end">
        {chatPage ? null : (
          <Button
            className="chat-toggle"
            variant={dockOpen ? "light" : "subtle"}
            color={dockOpen ? undefined : "gray"}
            size="compact-sm"
            leftSection={<ChatIcon />}
            aria-label={dockOpen ? t("chat.close") : t("chat.open")}
            aria-expanded={dockOpen}
            onClick={dockOpen ? hideChat : showChat}
          >
            {t("chat.title")}
          </Button>
        )}
        <LanguageMenu />
        <ThemeButton />
        <UserMenu />
      </div>
    </header>
  );
}
