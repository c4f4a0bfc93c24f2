"""How far the index lags behind the pages, over all workspaces."""

from typing import NamedTuple

from sqlalchemy import and_, case, false, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.providers.models import AiSettings
from shared.search.chosen import chosen_models, indexed_with
from shared.wiki.models import Page, PageIndex


class IndexBacklog(NamedTuple):
    """Living pages that wait to be indexed, for how many seconds the oldest change of them has
    waited, and pages that could not be indexed, of which each says why."""

    waiting: int
    oldest_seconds: float
    failed: int


async def index_backlog(session: AsyncSession) -> IndexBacklog:
    """One look at the index rows; a page is read only where its row is not as it should be."""
    chosen = await chosen_models(session)
    other_model = or_(
        false(), *(and_(PageIndex.workspace_id == c.workspace_id, ~indexed_with(c)) for c in chosen)
    )
    behind = (PageIndex.indexed_version < PageIndex.wanted_version) | (PageIndex.state == "pending")
    failed = PageIndex.state == "error"
    waits = ~failed & (behind | other_model)
    # A page that was indexed once and is to be indexed anew waits since somebody wanted that,
    # not since it was changed.
    anew = (PageIndex.indexed_version == 0) & PageIndex.model_name.is_not(None)
    since = case(
        (anew, func.greatest(Page.updated_at, PageIndex.enqueued_at)),
        (behind, Page.updated_at),
        else_=func.greatest(Page.updated_at, AiSettings.updated_at),
    )
    oldest = func.extract("epoch", func.now() - func.min(since).filter(waits))
    row = (
        await session.execute(
            select(
                func.count().filter(waits),
                func.greatest(func.coalesce(oldest, 0), 0),
                func.count().filter(failed),
            )
            .select_from(PageIndex)
            .join(Page, Page.id == PageIndex.page_id)
            .outerjoin(AiSettings, AiSettings.workspace_id == PageIndex.workspace_id)
            .where(failed | behind | other_model, Page.deleted_at.is_(None))
        )
    ).one()
    return IndexBacklog(row[0], float(row[1]), row[2])
