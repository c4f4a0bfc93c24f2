"""The SQL of pages. Whatever reads a page for a person goes through `visible`."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, exists, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased, undefer

from shared.accounts.actor import Actor
from shared.accounts.models import User
from shared.accounts.permissions import may_see
from shared.core.tunables import MAX_PAGE_DEPTH
from shared.wiki.models import Page, PageHistory, PageIndex


def visible(actor: Actor, *, trashed: bool = False) -> ColumnElement[bool]:
    """The pages that the actor may see: the living ones, or those in the trash."""
    gone = Page.deleted_at.is_not(None)
    return may_see(
        actor,
        workspace_id=Page.workspace_id,
        space_id=Page.space_id,
        deleted=~gone if trashed else gone,
    )


def _named(page: UUID | str) -> ColumnElement[bool]:
    return Page.id == page if isinstance(page, UUID) else Page.slug_id == page


async def find_page_id(session: AsyncSession, actor: Actor, page: UUID | str) -> UUID | None:
    """The id of a living page that the actor may see, by id or slug id."""
    return await session.scalar(select(Page.id).where(_named(page), visible(actor)))


async def find_page(
    session: AsyncSession,
    actor: Actor,
    page: UUID | str,
    *,
    trashed: bool = False,
    lock: bool = False,
) -> Page | None:
    """A page with its content, by id or slug id, if the actor may see it."""
    query = (
        select(Page)
        .where(_named(page), visible(actor, trashed=trashed))
        .options(undefer(Page.content))
        .execution_options(populate_existing=True)
    )
    if lock:
        query = query.with_for_update(of=Page, key_share=True)
    return await session.scalar(query)


async def lock_tree(session: AsyncSession, space_id: UUID) -> None:
    """Changes of one space's tree follow each other until the transaction ends."""
    key = func.hashtextextended(f"tree:{space_id}", 0)
    await session.execute(select(func.pg_advisory_xact_lock(key)))


async def ancestors(session: AsyncSession, page_id: UUID) -> list[UUID]:
    """A page and the living pages above it, itself first; bounded, whatever the data say."""
    walk = (
        select(Page.id, Page.parent_page_id, literal(1).label("depth"))
        .where(Page.id == page_id, Page.deleted_at.is_(None))
        .cte("up", recursive=True)
    )
    above = aliased(Page)
    walk = walk.union(
        select(above.id, above.parent_page_id, walk.c.depth + 1)
        .join(walk, above.id == walk.c.parent_page_id)
        .where(walk.c.depth < MAX_PAGE_DEPTH, above.deleted_at.is_(None))
    )
    return list(await session.scalars(select(walk.c.id).order_by(walk.c.depth)))


async def subtree(session: AsyncSession, page_id: UUID) -> dict[UUID, int]:
    """A page and the living pages below it, each with its depth (the page has 1)."""
    walk = (
        select(Page.id, literal(1).label("depth"))
        .where(Page.id == page_id)
        .cte("down", recursive=True)
    )
    below = aliased(Page)
    walk = walk.union(
        select(below.id, walk.c.depth + 1)
        .join(walk, below.parent_page_id == walk.c.id)
        .where(walk.c.depth < MAX_PAGE_DEPTH, below.deleted_at.is_(None))
    )
    rows = await session.execute(select(walk.c.id, func.min(walk.c.depth)).group_by(walk.c.id))
    return {row[0]: row[1] for row in rows}


def _siblings(space_id: UUID, parent_page_id: UUID | None) -> ColumnElement[bool]:
    at = (
        Page.parent_page_id.is_(None)
        if parent_page_id is None
        else Page.parent_page_id == parent_page_id
    )
    return (Page.space_id == space_id) & at & Page.deleted_at.is_(None)


async def last_position(
    session: AsyncSession, space_id: UUID, parent_page_id: UUID | None
) -> str | None:
    """The greatest position under a parent; None when nothing stands there."""
    return await session.scalar(
        select(func.max(Page.position)).where(_siblings(space_id, parent_page_id))
    )


async def next_position(
    session: AsyncSession,
    space_id: UUID,
    parent_page_id: UUID | None,
    *,
    after: str | None,
    moving: UUID,
) -> str | None:
    """The least position behind `after` (None: of all) under a parent, `moving` left out."""
    query = select(func.min(Page.position)).where(
        _siblings(space_id, parent_page_id), Page.id != moving
    )
    return await session.scalar(query if after is None else query.where(Page.position > after))


async def children(
    session: AsyncSession,
    actor: Actor,
    space_id: UUID,
    parent_page_id: UUID | None,
    *,
    after: tuple[str, UUID] | None,
    limit: int,
) -> Sequence[Row[Page, bool]]:
    """Visible pages under a parent in their order, each with whether it has such pages too."""
    child = aliased(Page)
    has_children = exists().where(
        child.parent_page_id == Page.id,
        child.space_id == Page.space_id,
        child.deleted_at.is_(None),
    )
    query = (
        select(Page, has_children)
        .where(_siblings(space_id, parent_page_id), visible(actor))
        .order_by(Page.position, Page.id)
        .limit(limit)
    )
    if after is not None:
        position, last_id = after
        query = query.where(
            (Page.position > position) | ((Page.position == position) & (Page.id > last_id))
        )
    return (await session.execute(query)).all()


async def recent(
    session: AsyncSession,
    actor: Actor,
    *,
    space_id: UUID | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> list[Page]:
    """Visible pages, last changed first."""
    query: Select[Page] = (
        select(Page)
        .where(visible(actor))
        .order_by(Page.updated_at.desc(), Page.id.desc())
        .limit(limit)
    )
    if space_id is not None:
        query = query.where(Page.space_id == space_id)
    if before is not None:
        at, last_id = before
        query = query.where(
            (Page.updated_at < at) | ((Page.updated_at == at) & (Page.id < last_id))
        )
    return list(await session.scalars(query))


def _versions(page_id: UUID) -> Select[PageHistory, str | None]:
    """A page's versions, each with the name of who saved it."""
    return (
        select(PageHistory, User.name)
        .outerjoin(User, User.id == PageHistory.last_updated_by_id)
        .where(PageHistory.page_id == page_id)
    )


async def versions(
    session: AsyncSession, page_id: UUID, *, before: int | None, limit: int
) -> Sequence[Row[PageHistory, str | None]]:
    """A page's versions without their content, newest first, with their authors' names."""
    query = _versions(page_id).order_by(PageHistory.version.desc()).limit(limit)
    if before is not None:
        query = query.where(PageHistory.version < before)
    return (await session.execute(query)).all()


async def find_version(
    session: AsyncSession, page_id: UUID, version: int
) -> Row[PageHistory, str | None] | None:
    """One version with its content, and its author's name."""
    query = _versions(page_id).where(PageHistory.version == version)
    return (await session.execute(query.options(undefer(PageHistory.content)))).one_or_none()


async def person_name(session: AsyncSession, user_id: UUID) -> str | None:
    return await session.scalar(select(User.name).where(User.id == user_id))


async def trash(session: AsyncSession, ids: Sequence[UUID], root: UUID) -> None:
    """Mark pages as trashed by one act, that of trashing `root`."""
    await session.execute(
        update(Page)
        .where(Page.id.in_(ids))
        .values(deleted_at=func.now(), deleted_with_id=root)
        .execution_options(synchronize_session=False)
    )


async def untrash(session: AsyncSession, page: Page) -> list[UUID]:
    """Take back a page and what below it was trashed by the same act; the ids."""
    act = page.deleted_with_id
    walk = select(Page.id, literal(1).label("depth")).where(Page.id == page.id)
    down = walk.cte("down", recursive=True)
    below = aliased(Page)
    down = down.union(
        select(below.id, down.c.depth + 1)
        .join(down, below.parent_page_id == down.c.id)
        .where(down.c.depth < MAX_PAGE_DEPTH, below.deleted_with_id == act)
    )
    restored = await session.scalars(
        update(Page)
        .where(Page.id.in_(select(down.c.id)), Page.deleted_at.is_not(None))
        .values(deleted_at=None, deleted_with_id=None)
        .returning(Page.id)
        .execution_options(synchronize_session=False)
    )
    return list(restored)


async def want_indexed(session: AsyncSession, page: Page) -> None:
    """Raise the version that the index should hold."""
    wanted = {
        "wanted_version": page.version,
        "state": "pending",
        "attempts": 0,
        "enqueued_at": func.now(),
        "updated_at": func.now(),
    }
    await session.execute(
        insert(PageIndex)
        .values(page_id=page.id, workspace_id=page.workspace_id, **wanted)
        .on_conflict_do_update(index_elements=[PageIndex.page_id], set_=wanted)
    )
