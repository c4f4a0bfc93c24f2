"""Stopping a turn, and settling one that no worker holds."""

from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat import salvage, turns
from shared.chat.models import ACTIVE, StopReason, Turn, TurnStatus


async def request_stop(
    session: AsyncSession, chat_id: UUID, reason: StopReason = StopReason.ASKED
) -> Turn | None:
    """Stop the chat's active turn; None when nothing runs. The first reason stays.

    A queued turn ends here and now. A running one is marked; after the commit the caller
    wakes the worker that holds it (`shared.bus.stream.signal_stop`).
    """
    turn = await session.scalar(
        select(Turn)
        .where(Turn.chat_id == chat_id, Turn.status.in_(ACTIVE))
        .with_for_update(key_share=True)
    )
    if turn is None:
        return None
    await session.execute(
        update(Turn)
        .where(Turn.id == turn.id, Turn.stop_requested_at.is_(None))
        .values(stop_requested_at=func.now(), stop_reason=reason)
        .execution_options(synchronize_session=False)
    )
    if turn.status == TurnStatus.QUEUED:
        return await settle(session, turn.id, turns.Ending(TurnStatus.ABORTED))
    return turn


async def settle(
    session: AsyncSession, turn_id: UUID, ending: turns.Ending, said: salvage.Entries = ()
) -> Turn:
    """End a turn that the caller has locked, with what was committed and, of the step that
    was not, what the turn's events (`said`) tell of it."""
    state = await turns.load(session, turn_id)
    assert state is not None
    unsaved = salvage.unsaved_step(state, said)
    if unsaved is not None:
        await turns.add_step(session, state, *unsaved)
    await turns.finish(session, state, ending)
    return state.turn
