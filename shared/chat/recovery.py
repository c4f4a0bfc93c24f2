"""The reaper: turns whose message was lost, whose worker died, or that nobody can finish.

Run by every API and worker process; row locks keep two of them apart, and doing a thing
twice does no harm.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import turns
from shared.chat.models import Turn, TurnStatus
from shared.chat.stopping import settle
from shared.core.tunables import REAPER_BATCH, REQUEUE_PAUSE_MAX_SECONDS, TURN_MAX_ATTEMPTS

OUT_OF_ATTEMPTS = turns.Ending(
    TurnStatus.ERROR,
    error_code="out_of_attempts",
    error_text="The answer could not be finished: its worker stopped three times. "
    "What was said until then is kept; you can ask again.",
)


@dataclass(slots=True)
class Reaped:
    """What one sweep did: ids of turns requeued, and of turns ended."""

    requeued: list[UUID] = field(default_factory=list)
    settled: list[UUID] = field(default_factory=list)


async def reap(session: AsyncSession, *, requeue_seconds: float) -> Reaped:
    """One sweep. The caller commits, then hints the readers of the settled turns.

    A queued turn is enqueued again only after a pause that doubles each time, so that a
    backlog is not enqueued at each sweep.
    """
    pause = func.least(
        requeue_seconds * func.power(2, func.least(Turn.enqueue_count, 10) - 1),
        REQUEUE_PAUSE_MAX_SECONDS,
    )
    due = or_(
        Turn.enqueued_at.is_(None),
        Turn.enqueued_at < func.now() - pause * timedelta(seconds=1),
    )
    expired = and_(Turn.status == TurnStatus.RUNNING, Turn.lease_until < func.now())
    rows = await session.scalars(
        select(Turn)
        .where(or_(expired, and_(Turn.status == TurnStatus.QUEUED, due)))
        .order_by(Turn.created_at)
        .limit(REAPER_BATCH)
        .with_for_update(skip_locked=True, key_share=True)
    )
    reaped = Reaped()
    for turn in list(rows):
        if turn.stop_requested_at is not None:
            await settle(session, turn.id, turns.Ending(TurnStatus.ABORTED))
            reaped.settled.append(turn.id)
        elif turn.attempts >= TURN_MAX_ATTEMPTS:
            await settle(session, turn.id, OUT_OF_ATTEMPTS)
            reaped.settled.append(turn.id)
        else:
            await _requeue(session, turn)
            reaped.requeued.append(turn.id)
    return reaped


async def _requeue(session: AsyncSession, turn: Turn) -> None:
    """A crashed turn goes back to the queue at once, once for each lost lease."""
    fresh = turn.status == TurnStatus.RUNNING
    await session.execute(
        update(Turn)
        .where(Turn.id == turn.id)
        .values(
            status=TurnStatus.QUEUED,
            lease_owner=None,
            lease_until=None,
            enqueued_at=func.now(),
            enqueue_count=1 if fresh else Turn.enqueue_count + 1,
        )
        .execution_options(synchronize_session=False)
    )
    enqueue_after_commit(session, RunTurn(turn_id=turn.id))
