"""Letting time pass without waiting."""

from datetime import timedelta
from typing import Any

from sqlalchemy import update

from shared.chat.models import Generation
from shared.core.db import Database
from shared.providers.models import AiSettings
from shared.wiki.models import PageIndex

_TIMES: tuple[tuple[type[Any], tuple[str, ...]], ...] = (
    (PageIndex, ("updated_at", "enqueued_at")),
    (AiSettings, ("updated_at",)),
    (Generation, ("created_at", "finished_at")),
)


async def let_pass(database: Database, seconds: float) -> None:
    """What happened to the index, the settings and the account was so much earlier."""
    by = timedelta(seconds=seconds)
    async with database.session() as session:
        for table, names in _TIMES:
            earlier = {name: getattr(table, name) - by for name in names}
            await session.execute(
                update(table).values(earlier).execution_options(synchronize_session=False)
            )
