import { Menu, UnstyledButton } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { mayConfigure } from "@/features/settings/roles";
import { useSession, useSignOut } from "../queries/session";

export function UserMenu() {
  const { t } = useTranslation();
  const { data: session } = useSession();
  const signOut = useSignOut();
  if (!session) return null;
  const name = session.user.name || session.user.email;
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton className="avatar" aria-label={`${initials(name)}, ${t("auth.account")}: ${name}`}>
          {initials(name)}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {name}
          <br />
          {session.user.email}
        </Menu.Label>
        <Menu.Divider />
        {mayConfigure(session) ? (
          <Menu.Item component={Link} to="/settings/ai">
            {t("settings.heading")}
          </Menu.Item>
        ) : null}
        <Menu.Item onClick={() => signOut.mutate()}>{t("auth.signOut")}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function initials(name: string): string {
  const words = name.split(/[\s@.]+/u).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase();
}
