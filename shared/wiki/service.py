"""Pages: reading, writing and finding one's way. Services flush; the edge commits.

Every function checks what the actor may do. An unknown page and one that the actor may not
see are the same PageNotFoundError; a page that may be read but not written is a
ForbiddenError.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.models import Space
from shared.accounts.permissions import Action, require_space
from shared.bus.jobs import PageCreated, PageUpdated, enqueue_after_commit
from shared.wiki import repository
from shared.wiki.contents import plain_text, read_content, with_ids
from shared.wiki.errors import PageNotFoundError, StaleVersionError
from shared.wiki.history import get_version, history
from shared.wiki.models import Page
from shared.wiki.placing import move_page, place_last, restore_page, trash_page
from shared.wiki.saving import mark_changed, record_version
from shared.wiki.titles import clean_title
from shared.wiki.urls import new_slug_id

__all__ = [
    "TreeNode",
    "create_page",
    "get_page",
    "get_space",
    "get_version",
    "history",
    "list_pages",
    "move_page",
    "restore_page",
    "trash_page",
    "tree",
    "update_page",
]


async def create_page(
    session: AsyncSession,
    actor: Actor,
    *,
    space_id: UUID,
    title: str,
    content: object = None,
    markdown: str | None = None,
    parent_page_id: UUID | None = None,
) -> Page:
    """Create a page as the last one under its parent, with its first version.

    Raises NotFoundError, ForbiddenError, ParentNotFoundError, InvalidTitleError,
    InvalidDocumentError, InvalidMoveError.
    """
    await require_space(session, actor, space_id, "write")
    title = clean_title(title)
    document = await with_ids(await read_content(content=content, markdown=markdown))
    page = Page(
        workspace_id=actor.workspace_id,
        space_id=space_id,
        parent_page_id=parent_page_id,
        slug_id=new_slug_id(),
        title=title,
        position=await place_last(session, actor, space_id, parent_page_id),
        content=document,
        text_content=await plain_text(document),
        creator_id=actor.user_id,
        version=1,
    )
    mark_changed(page, actor)
    session.add(page)
    await session.flush()
    await record_version(session, page)
    enqueue_after_commit(session, PageCreated(page_id=page.id))
    return page


async def get_page(
    session: AsyncSession,
    actor: Actor,
    page_id: UUID | str,
    action: Action = "read",
    *,
    lock: bool = False,
) -> Page:
    """A page with its content, by id or slug id. With `lock` nobody else changes it until the
    transaction ends. Raises PageNotFoundError, ForbiddenError."""
    page = await repository.find_page(session, actor, page_id, lock=lock)
    if page is None:
        raise PageNotFoundError
    if action != "read":
        await require_space(session, actor, page.space_id, action)
    return page


async def update_page(
    session: AsyncSession,
    actor: Actor,
    page_id: UUID | str,
    *,
    title: str | None = None,
    content: object = None,
    markdown: str | None = None,
    base_version: int | None = None,
) -> Page:
    """Save a title, a content or both as the next version; the same again makes none.

    `base_version` is the version that the change was made on. Raises StaleVersionError when
    the page has another, PageNotFoundError, ForbiddenError, InvalidTitleError,
    InvalidDocumentError.
    """
    wanted_title = None if title is None else clean_title(title)
    brought = await read_content(content=content, markdown=markdown)
    page = await get_page(session, actor, page_id, "write", lock=True)
    if base_version is not None and base_version != page.version:
        raise StaleVersionError(page.version)
    document = page.content
    if brought is not None:
        document = await with_ids(brought, over=page.content)
    new_title = page.title if wanted_title is None else wanted_title
    if new_title == page.title and document == page.content:
        return page
    if document != page.content:
        page.content = document
        page.text_content = await plain_text(document)
    page.title = new_title
    page.version += 1
    mark_changed(page, actor)
    await session.flush()
    await record_version(session, page)
    enqueue_after_commit(session, PageUpdated(page_id=page.id))
    return page


async def list_pages(
    session: AsyncSession,
    actor: Actor,
    *,
    space_id: UUID | None = None,
    before: tuple[datetime, UUID] | None = None,
    limit: int,
) -> list[Page]:
    """Pages without their content, last changed first; `before` is the last row of the page
    before. Raises NotFoundError for a space that the actor may not see."""
    if space_id is not None:
        await require_space(session, actor, space_id, "read")
    return await repository.recent(session, actor, space_id=space_id, before=before, limit=limit)


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A page in the tree, without its content."""

    page: Page
    has_children: bool


async def tree(
    session: AsyncSession,
    actor: Actor,
    space_id: UUID,
    *,
    parent_page_id: UUID | None = None,
    after: tuple[str, UUID] | None = None,
    limit: int,
) -> list[TreeNode]:
    """One level of a space's tree in its order; `after` is the last one's position and id.

    Raises NotFoundError, PageNotFoundError for a parent that is not there.
    """
    await require_space(session, actor, space_id, "read")
    if parent_page_id is not None:
        parent = await repository.find_page(session, actor, parent_page_id)
        if parent is None or parent.space_id != space_id:
            raise PageNotFoundError
    rows: Sequence[Any] = await repository.children(
        session, actor, space_id, parent_page_id, after=after, limit=limit
    )
    return [TreeNode(page, has_children) for page, has_children in rows]


async def get_space(session: AsyncSession, space_id: UUID) -> Space:
    """The space of a page that has been read. It checks nothing: the page's check has."""
    return await session.get_one(Space, space_id)


async def last_author(session: AsyncSession, page: Page) -> str | None:
    """The name of who changed a page last; None when that person is gone. It checks nothing."""
    if page.last_updated_by_id is None:
        return None
    return await repository.person_name(session, page.last_updated_by_id)
