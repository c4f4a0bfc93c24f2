"""How far the index of a workspace has come."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.search.chosen import chosen_models, indexed_with
from shared.wiki.models import Page, PageIndex


class IndexProgress(NamedTuple):
    """Living pages that the index holds as they are, by the model that is chosen now, and all
    there are. `reindexing`: some wait for their turn; a page that failed does not."""

    indexed: int
    total: int
    reindexing: bool


async def index_progress(session: AsyncSession, workspace_id: UUID) -> IndexProgress:
    """Of one workspace; nothing for one that is gone."""
    for chosen in await chosen_models(session, workspace_id):
        current = (
            (PageIndex.state == "indexed")
            & (PageIndex.indexed_version == Page.version)
            & indexed_with(chosen)
        )
        failed = PageIndex.state == "error"
        row = (
            await session.execute(
                select(func.count().filter(current), func.count().filter(failed), func.count())
                .select_from(Page)
                .outerjoin(PageIndex, PageIndex.page_id == Page.id)
                .where(Page.workspace_id == workspace_id, Page.deleted_at.is_(None))
            )
        ).one()
        return IndexProgress(row[0], row[2], row[0] + row[1] < row[2])
    return IndexProgress(0, 0, False)
