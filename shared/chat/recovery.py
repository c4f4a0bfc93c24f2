"""The reaper: turns whose message was lost, whose worker died, or that nobody can finish.

Run by every API and worker process; row locks keep two of them apart, and doing a thing
twice does no harm.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import turns
from shared.chat.models import Turn, TurnStatus
from shared.chat.salvage import Entries
from shared.chat.stopping import settle
from shared.core.tunables import (
    REAPER_BATCH,
    REQUEUE_PAUSE_MAX_SECONDS,
    SALVAGE_PATIENCE_SECONDS,
    TURN_MAX_ATTEMPTS,
)

OUT_OF_ATTEMPTS = turns.Ending(
    TurnStatus.ERROR,
    error_code="out_of_attempts",
    error_text="The answer could not be finished: its worker stopped three times. "
    "What was said until then is kept; you can ask again.",
)

# A lease that ran out, or attempts that were given back until none is left.
_EXPIRED = and_(Turn.status == TurnStatus.RUNNING, Turn.lease_until < func.now())
_ENDING = or_(
    Turn.attempts >= TURN_MAX_ATTEMPTS,
    Turn.stop_requested_at.is_not(None),
)
_ABANDONED = and_(_ENDING, or_(_EXPIRED, Turn.status == TurnStatus.QUEUED))


@dataclass(slots=True)
class Reaped:
    """What one sweep did: ids of turns requeued, how many of them had lost their worker, and
    ids with the epochs of those that no worker will take again: `end_abandoned` ends them."""

    requeued: list[UUID] = field(default_factory=list)
    lost: int = 0
    abandoned: dict[UUID, int] = field(default_factory=dict)


async def reap(
    session: AsyncSession, *, requeue_seconds: float, waiting: int | None = None
) -> Reaped:
    """One sweep. `waiting`: how many messages the queue of turns holds; None: nobody knows."""
    rows = await session.scalars(
        select(Turn)
        .where(or_(_EXPIRED, _ABANDONED, _forgotten(requeue_seconds, waiting)))
        .order_by(Turn.created_at)
        .limit(REAPER_BATCH)
        .with_for_update(skip_locked=True, key_share=True)
    )
    reaped = Reaped()
    for turn in list(rows):
        lost = turn.status == TurnStatus.RUNNING
        reaped.lost += lost
        if turn.stop_requested_at is not None or turn.attempts >= TURN_MAX_ATTEMPTS:
            reaped.abandoned[turn.id] = turn.epoch
            if lost or turn.lost_at is None:
                await _put_back(session, turn, lost=lost)
        else:
            reaped.requeued.append(turn.id)
            await _put_back(session, turn, lost=lost)
            enqueue_after_commit(session, RunTurn(turn_id=turn.id))
    return reaped


def _forgotten(requeue_seconds: float, waiting: int | None) -> ColumnElement[bool]:
    """Queued turns whose message is gone.

    A message that still waits in its queue is not sent again, however long the queue is. It is
    gone when the queue is empty, or when workers have taken messages that were sent well after
    it. The pause doubles with each sending, for what nobody takes.
    """
    pause = func.least(
        requeue_seconds * func.power(2, func.least(Turn.enqueue_count, 10) - 1),
        REQUEUE_PAUSE_MAX_SECONDS,
    )
    rested = Turn.enqueued_at < func.now() - pause * timedelta(seconds=1)
    # Two sends reach the queue in another order than that of their rows' times, at most so
    # far apart.
    taken = select(func.max(Turn.enqueued_at)).where(Turn.status != TurnStatus.QUEUED)
    passed = Turn.enqueued_at < taken.scalar_subquery() - timedelta(seconds=requeue_seconds)
    due = rested if waiting == 0 else and_(rested, passed)
    return and_(Turn.status == TurnStatus.QUEUED, or_(Turn.enqueued_at.is_(None), due))


async def is_stale(session: AsyncSession, turn: Turn) -> bool:
    """Whether a turn waits for the reaper."""
    query = select(Turn.id).where(Turn.id == turn.id, or_(_EXPIRED, _ABANDONED))
    return await session.scalar(query) is not None


async def _put_back(session: AsyncSession, turn: Turn, *, lost: bool) -> None:
    """Nobody holds the turn; a crashed one goes back at once, once for each lost lease."""
    await session.execute(
        update(Turn)
        .where(Turn.id == turn.id)
        .values(
            status=TurnStatus.QUEUED,
            lost_at=func.coalesce(Turn.lease_until, Turn.lost_at, func.now()),
            lease_owner=None,
            lease_until=None,
            enqueued_at=func.now(),
            enqueue_count=1 if lost else Turn.enqueue_count + 1,
        )
        .execution_options(synchronize_session=False)
    )


async def end_abandoned(session: AsyncSession, turn_id: UUID, said: Entries | None) -> bool:
    """End a turn that `reap` found abandoned, with the words of its last attempt; whether it
    is over now. `said`: the turn's events; None: they cannot be had, which is waited for a
    while."""
    query = select(Turn).where(Turn.id == turn_id, _ABANDONED)
    if said is None:
        patience = timedelta(seconds=SALVAGE_PATIENCE_SECONDS)
        query = query.where(Turn.lost_at < func.now() - patience)
    query = query.with_for_update(skip_locked=True, key_share=True)
    turn = await session.scalar(query.execution_options(populate_existing=True))
    if turn is None:
        return False
    stopped = turn.stop_requested_at is not None
    ending = turns.Ending(TurnStatus.ABORTED) if stopped else OUT_OF_ATTEMPTS
    await settle(session, turn.id, ending, said or ())
    return True
