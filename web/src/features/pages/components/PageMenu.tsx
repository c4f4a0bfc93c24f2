import { ActionIcon, Button, Menu } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import type { Space } from "@/features/spaces/types";
import { DotsIcon, HistoryIcon, LinkIcon, PlusIcon, TrashIcon } from "@/shared/ui/icons";
import { messageOf } from "@/shared/ui/States";
import { openNewPage } from "../newPage";
import { historyPath, pagePath, spacePath } from "../pageUrl";
import { useDeletePage, useRestorePage } from "../queries/pages";
import type { Page } from "../types";

const UNDO_MS = 10_000;

interface Props {
  page: Page;
  space: Space | undefined;
  writable: boolean;
}

export function PageMenu({ page, space, writable }: Props) {
  const { t } = useTranslation();
  const clipboard = useClipboard();
  const trash = useTrash(page, space);
  const path = pagePath(space?.slug ?? "", page);

  function copyLink() {
    clipboard.copy(window.location.origin + path);
    notifications.show({ message: t("page.linkCopied") });
  }

  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t("app.actions")}>
          <DotsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<LinkIcon size={16} />} onClick={copyLink}>
          {t("page.copyLink")}
        </Menu.Item>
        {space ? (
          <Menu.Item
            component={Link}
            to={historyPath(space.slug, page)}
            leftSection={<HistoryIcon size={16} />}
          >
            {t("history.heading")}
          </Menu.Item>
        ) : null}
        {writable ? (
          <>
            <Menu.Item
              leftSection={<PlusIcon size={16} />}
              onClick={() => openNewPage({ spaceId: page.spaceId, parentPageId: page.id })}
            >
              {t("page.newChild")}
            </Menu.Item>
            <Menu.Item color="red" leftSection={<TrashIcon size={16} />} onClick={trash}>
              {t("page.delete")}
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Deletes the page, goes to its space, and offers for a while to take it back. */
function useTrash(page: Page, space: Space | undefined) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const remove = useDeletePage();
  const restore = useRestorePage();
  const title = page.title || t("page.untitled");

  async function undo(notice: string) {
    notifications.hide(notice);
    try {
      await restore.mutateAsync(page.id);
      notifications.show({ message: t("page.restored", { title }) });
      if (space) await navigate(pagePath(space.slug, page));
    } catch (error) {
      notifications.show({ color: "red", title: t("app.error"), message: messageOf(error) });
    }
  }

  return async () => {
    try {
      await remove.mutateAsync(page.id);
    } catch (error) {
      notifications.show({ color: "red", title: t("app.error"), message: messageOf(error) });
      return;
    }
    await navigate(space ? spacePath(space.slug) : "/");
    const notice = `trash-${page.id}`;
    notifications.show({
      id: notice,
      autoClose: UNDO_MS,
      message: (
        <div className="notice-row">
          <span>{t("page.deleted", { title })}</span>
          <Button size="compact-sm" variant="light" onClick={() => void undo(notice)}>
            {t("page.undo")}
          </Button>
        </div>
      ),
    });
  };
}
