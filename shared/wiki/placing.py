"""Where pages stand: under which parent, in which order, and in the trash."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.permissions import require_space
from shared.bus.jobs import PageMoved, PageRestored, PageTrashed, enqueue_after_commit
from shared.core.tunables import MAX_PAGE_DEPTH
from shared.wiki import repository
from shared.wiki.errors import InvalidMoveError, PageNotFoundError, ParentNotFoundError
from shared.wiki.models import Page
from shared.wiki.positions import between
from shared.wiki.saving import mark_changed

_TOO_DEEP = f"Pages can be nested {MAX_PAGE_DEPTH} levels deep at most."


async def place_last(
    session: AsyncSession, actor: Actor, space_id: UUID, parent_page_id: UUID | None
) -> str:
    """The position of a new page as the last one under its parent.

    Raises ParentNotFoundError, InvalidMoveError (another space, too deep).
    """
    await repository.lock_tree(session, space_id)
    if parent_page_id is not None:
        await _check_parent(session, actor, space_id, parent_page_id)
        if len(await repository.ancestors(session, parent_page_id)) >= MAX_PAGE_DEPTH:
            raise InvalidMoveError(_TOO_DEEP)
    return between(await repository.last_position(session, space_id, parent_page_id), None)


async def _check_parent(
    session: AsyncSession, actor: Actor, space_id: UUID, parent_page_id: UUID
) -> None:
    parent = await repository.find_page(session, actor, parent_page_id)
    if parent is None:
        raise ParentNotFoundError
    if parent.space_id != space_id:
        raise InvalidMoveError("A page and its parent are in the same space.")


async def move_page(
    session: AsyncSession,
    actor: Actor,
    page_id: UUID | str,
    *,
    parent_page_id: UUID | None,
    after: UUID | None = None,
    first: bool = False,
) -> Page:
    """Put a page, with what is under it, under another parent of its space (None: the top).

    It stands behind the page `after`, or first, else last. It keeps its version: nothing of
    its content changes. Raises PageNotFoundError, ForbiddenError, ParentNotFoundError,
    InvalidMoveError (into itself, another space, too deep, `after` elsewhere).
    """
    page = await _writable(session, actor, page_id)
    if parent_page_id is not None:
        await _check_parent(session, actor, page.space_id, parent_page_id)
        await _check_no_cycle(session, page, parent_page_id)
    place = (page.space_id, parent_page_id)
    if after is not None:
        before = await _position_of(session, actor, after, page, parent_page_id)
    elif first:
        before = None
    else:
        before = await repository.last_position(session, *place)
        if before == page.position and parent_page_id == page.parent_page_id:
            return page  # it is the last one already
    behind = await repository.next_position(session, *place, after=before, moving=page.id)
    page.position = between(before, behind)
    page.parent_page_id = parent_page_id
    mark_changed(page, actor)
    await session.flush()
    enqueue_after_commit(session, PageMoved(page_id=page.id))
    return page


async def _writable(
    session: AsyncSession, actor: Actor, page_id: UUID | str, *, trashed: bool = False
) -> Page:
    """The page, locked, and the tree of its space locked before it."""
    seen = await repository.find_page(session, actor, page_id, trashed=trashed)
    if seen is None:
        raise PageNotFoundError
    await require_space(session, actor, seen.space_id, "write")
    await repository.lock_tree(session, seen.space_id)
    page = await repository.find_page(session, actor, seen.id, trashed=trashed, lock=True)
    if page is None:
        raise PageNotFoundError
    return page


async def _check_no_cycle(session: AsyncSession, page: Page, parent_page_id: UUID) -> None:
    below = await repository.subtree(session, page.id)
    if parent_page_id in below:
        raise InvalidMoveError("A page cannot stand under itself.")
    above = await repository.ancestors(session, parent_page_id)
    if len(above) + max(below.values()) > MAX_PAGE_DEPTH:
        raise InvalidMoveError(_TOO_DEEP)


async def _position_of(
    session: AsyncSession, actor: Actor, after: UUID, page: Page, parent_page_id: UUID | None
) -> str:
    neighbour = await repository.find_page(session, actor, after)
    if (
        neighbour is None
        or neighbour.id == page.id
        or (neighbour.space_id, neighbour.parent_page_id) != (page.space_id, parent_page_id)
    ):
        raise InvalidMoveError("The page to stand behind is not there.")
    return neighbour.position


async def trash_page(session: AsyncSession, actor: Actor, page_id: UUID | str) -> None:
    """Put a page and what is under it into the trash. Raises PageNotFoundError,
    ForbiddenError."""
    page = await _writable(session, actor, page_id)
    ids = list(await repository.subtree(session, page.id))
    mark_changed(page, actor)
    await session.flush()
    await repository.trash(session, ids, page.id)
    for each in ids:
        enqueue_after_commit(session, PageTrashed(page_id=each))


async def restore_page(session: AsyncSession, actor: Actor, page_id: UUID | str) -> Page:
    """Take a page, and what was trashed with it, out of the trash.

    At the top of the space when its parent is gone. Raises PageNotFoundError (also for a
    page that is not in the trash), ForbiddenError.
    """
    page = await _writable(session, actor, page_id, trashed=True)
    if page.parent_page_id is not None:
        parent = await repository.find_page(session, actor, page.parent_page_id)
        if parent is None or parent.space_id != page.space_id:
            page.parent_page_id = None
            last = await repository.last_position(session, page.space_id, None)
            page.position = between(last, None)
    mark_changed(page, actor)
    await session.flush()
    for each in await repository.untrash(session, page):
        enqueue_after_commit(session, PageRestored(page_id=each))
    await session.refresh(page, ["deleted_at", "deleted_with_id"])
    return page
