"""Which pages the index owes work, and when it may be asked again."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.tunables import INDEX_PAUSE_SECONDS, REQUEUE_PAUSE_MAX_SECONDS
from shared.wiki.models import Page, PageIndex


async def add_missing_rows(session: AsyncSession, *, limit: int | None = None) -> None:
    """Give pages without an index row one that says nothing is indexed yet."""
    missing = (
        select(Page.id, Page.workspace_id, Page.version, literal(0), literal("pending"))
        .outerjoin(PageIndex, PageIndex.page_id == Page.id)
        .where(PageIndex.page_id.is_(None), Page.deleted_at.is_(None))
        .add_columns(literal(0), literal(0))
        .limit(limit)
    )
    columns = (
        "page_id",
        "workspace_id",
        "wanted_version",
        "indexed_version",
        "state",
        "chunks",
        "attempts",
    )
    await session.execute(insert(PageIndex).from_select(columns, missing).on_conflict_do_nothing())


async def take_lagging(
    session: AsyncSession, *, model_name: str | None, limit: int
) -> Sequence[UUID]:
    """The pages to enqueue now, oldest first, each marked as enqueued.

    The pause after the last change or enqueue doubles with each try since the last success,
    so that a backlog is not enqueued anew at every sweep.
    """
    found = (
        select(PageIndex.page_id)
        .join(Page, Page.id == PageIndex.page_id)
        .where(_lags(model_name), _rested())
        .order_by(PageIndex.updated_at)
        .limit(limit)
        .with_for_update(of=PageIndex, skip_locked=True)
    )
    pages = (await session.scalars(found)).all()
    if pages:
        await session.execute(
            update(PageIndex)
            .where(PageIndex.page_id.in_(pages))
            .values(enqueued_at=func.now(), attempts=PageIndex.attempts + 1)
        )
    return pages


async def want_again(session: AsyncSession, *, space_id: UUID | None = None) -> Sequence[UUID]:
    """Mark every live page (of a space) as not indexed; their ids, for enqueueing.

    Searchable chunks stay until the page's turn comes.
    """
    live = select(Page.id).where(Page.deleted_at.is_(None))
    if space_id is not None:
        live = live.where(Page.space_id == space_id)
    rows = await session.scalars(
        update(PageIndex)
        .where(PageIndex.page_id.in_(live))
        .values(indexed_version=0, state="pending", attempts=0, enqueued_at=func.now())
        .returning(PageIndex.page_id)
    )
    return rows.all()


def _lags(model_name: str | None) -> ColumnElement[bool]:
    """A live page that is not indexed as it should be, or a trashed one that still is."""
    behind = (PageIndex.indexed_version < PageIndex.wanted_version) | (PageIndex.state == "error")
    if model_name is not None:
        behind |= PageIndex.model_name.is_distinct_from(model_name)
    return (Page.deleted_at.is_(None) & behind) | (
        Page.deleted_at.is_not(None) & (PageIndex.chunks > 0)
    )


def _rested() -> ColumnElement[bool]:
    doublings = func.least(PageIndex.attempts, 10)
    pause = func.least(INDEX_PAUSE_SECONDS * func.power(2, doublings), REQUEUE_PAUSE_MAX_SECONDS)
    since = func.greatest(PageIndex.updated_at, PageIndex.enqueued_at)
    return since < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, pause)
