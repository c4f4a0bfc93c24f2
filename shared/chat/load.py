"""How much the workers have to do, over all workspaces."""

from typing import NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat.models import ACTIVE, Turn, TurnStatus


class TurnLoad(NamedTuple):
    """Turns by state, and for how many seconds the oldest one has waited for a worker."""

    queued: int
    running: int
    oldest_queued_seconds: float


async def turn_load(session: AsyncSession) -> TurnLoad:
    """One look at the turns that have not ended."""
    queued = Turn.status == TurnStatus.QUEUED
    # A turn that a worker has had waits since that one lost it or gave it back.
    since = case(
        (Turn.epoch > 0, func.coalesce(Turn.lost_at, Turn.enqueued_at)), else_=Turn.created_at
    )
    oldest = func.extract("epoch", func.now() - func.min(since).filter(queued))
    row = (
        await session.execute(
            select(
                func.count().filter(queued),
                func.count().filter(Turn.status == TurnStatus.RUNNING),
                func.greatest(func.coalesce(oldest, 0), 0),
            ).where(Turn.status.in_(ACTIVE))
        )
    ).one()
    return TurnLoad(row[0], row[1], float(row[2]))
