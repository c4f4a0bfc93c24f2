"""Following the index until it has caught up with a space."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from shared.core.db import Database
from shared.core.tunables import INDEX_WAIT_SECONDS
from shared.wiki.models import Page, PageIndex

_EVERY_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """Live pages, those whose index is current, those that failed, and chunks of them all."""

    pages: int
    indexed: int
    failed: int
    chunks: int

    @property
    def is_done(self) -> bool:
        return self.indexed + self.failed >= self.pages


async def read_progress(database: Database, space_id: UUID | None) -> Progress:
    """Of a space, or of all."""
    current = (PageIndex.state == "indexed") & (PageIndex.indexed_version == Page.version)
    query = (
        select(
            func.count(),
            func.count().filter(current),
            func.count().filter(PageIndex.state == "error"),
            func.coalesce(func.sum(PageIndex.chunks), 0),
        )
        .select_from(Page)
        .outerjoin(PageIndex, PageIndex.page_id == Page.id)
        .where(Page.deleted_at.is_(None))
    )
    if space_id is not None:
        query = query.where(Page.space_id == space_id)
    async with database.session() as session:
        row = (await session.execute(query)).one()
    return Progress(*row)


async def until_indexed(
    database: Database, space_id: UUID | None, show: Callable[[Progress], None]
) -> Progress:
    """The last progress: done, or unchanged for INDEX_WAIT_SECONDS."""
    seen, since = await read_progress(database, space_id), time.monotonic()
    show(seen)
    while not seen.is_done and time.monotonic() - since < INDEX_WAIT_SECONDS:
        await asyncio.sleep(_EVERY_SECONDS)
        now = await read_progress(database, space_id)
        if now != seen:
            seen, since = now, time.monotonic()
            show(seen)
    return seen
