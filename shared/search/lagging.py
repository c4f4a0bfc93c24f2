"""Which pages the index owes work, and when it may be asked again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Text,
    Uuid,
    column,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.tunables import INDEX_PAUSE_SECONDS, REQUEUE_PAUSE_MAX_SECONDS
from shared.providers.models import AiSettings
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
    session: AsyncSession, *, wanted: Mapping[UUID, str | None], limit: int
) -> Sequence[UUID]:
    """The pages to enqueue now, oldest first, each marked as enqueued and as pending.

    `wanted` names the model of each workspace whose pages can be embedded now (None: any
    model's rows will do); of the others only what is in the trash is taken. The pause after
    the last change or enqueue doubles with each try since the last success, so that a backlog
    is not enqueued anew at every sweep; after a change of the settings there is none.
    """
    model = (
        func.unnest(literal(list(wanted), ARRAY(Uuid)), literal(list(wanted.values()), ARRAY(Text)))
        .table_valued(column("workspace_id", Uuid), column("name", Text), name="wanted")
        .render_derived(name="wanted")
    )
    behind = model.c.workspace_id.is_not(None) & lags(model.c.name)
    found = (
        select(PageIndex.page_id)
        .join(Page, Page.id == PageIndex.page_id)
        .outerjoin(model, model.c.workspace_id == PageIndex.workspace_id)
        .outerjoin(AiSettings, AiSettings.workspace_id == PageIndex.workspace_id)
        .where(
            (Page.deleted_at.is_(None) & behind)
            | (Page.deleted_at.is_not(None) & (PageIndex.chunks > 0)),
            _rested() | (AiSettings.updated_at > _last_touched()),
        )
        .order_by(PageIndex.updated_at)
        .limit(limit)
        .with_for_update(of=PageIndex, skip_locked=True)
    )
    pages = (await session.scalars(found)).all()
    if pages:
        await session.execute(
            update(PageIndex)
            .where(PageIndex.page_id.in_(pages))
            .values(state="pending", enqueued_at=func.now(), attempts=PageIndex.attempts + 1)
        )
    return pages


async def fail_lagging(
    session: AsyncSession, workspace_id: UUID, model_name: str | None, reason: str
) -> None:
    """Say on every page of a workspace that waits for its turn why it does not come now."""
    living = select(Page.id).where(Page.workspace_id == workspace_id, Page.deleted_at.is_(None))
    await session.execute(
        update(PageIndex)
        .where(
            PageIndex.workspace_id == workspace_id,
            PageIndex.page_id.in_(living),
            PageIndex.state != "error",
            lags(model_name),
        )
        .values(state="error", last_error=reason)
        .execution_options(synchronize_session=False)
    )


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


def lags(model_name: ColumnElement[str | None] | str | None) -> ColumnElement[bool]:
    """The condition on `page_index` that a living page is not indexed as it should be; a model
    of no name is not compared."""
    behind = (PageIndex.indexed_version < PageIndex.wanted_version) | (PageIndex.state != "indexed")
    if model_name is None:
        return behind
    if isinstance(model_name, str):
        return behind | PageIndex.model_name.is_distinct_from(model_name)
    return behind | (model_name.is_not(None) & PageIndex.model_name.is_distinct_from(model_name))


def _last_touched() -> ColumnElement[datetime]:
    return func.greatest(PageIndex.updated_at, PageIndex.enqueued_at)


def _rested() -> ColumnElement[bool]:
    doublings = func.least(PageIndex.attempts, 10)
    pause = func.least(INDEX_PAUSE_SECONDS * func.power(2, doublings), REQUEUE_PAUSE_MAX_SECONDS)
    return _last_touched() < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, pause)
