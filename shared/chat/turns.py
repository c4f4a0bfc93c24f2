"""A turn's state in PostgreSQL: claim, lease, steps, results, end.

Every write after the claim carries the claim's epoch and is refused under another one.
Only the database's clock is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.models import UserSession
from shared.accounts.repository import live_sessions
from shared.bus.jobs import MakeTitle, SendQueued, enqueue_after_commit
from shared.chat import render, waiting
from shared.chat.errors import ChatNotFoundError, LostLeaseError, UnknownOutcomeError
from shared.chat.models import (
    Chat,
    Generation,
    Message,
    MessageStatus,
    Step,
    ToolCall,
    Turn,
    TurnStatus,
)
from shared.core.tunables import TURN_MAX_ATTEMPTS

MESSAGE_STATUS = {
    TurnStatus.COMPLETED: MessageStatus.COMPLETE,
    TurnStatus.ABORTED: MessageStatus.ABORTED,
    TurnStatus.ERROR: MessageStatus.ERROR,
}


@dataclass(slots=True)
class TurnState:
    """A turn with its committed steps and their calls (by step, then ordinal)."""

    turn: Turn
    steps: list[Step]
    calls: dict[int, dict[int, ToolCall]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends. `status` is one of the three terminal ones."""

    status: TurnStatus
    finish_reason: str | None = None
    truncated: bool = False
    error_code: str | None = None
    error_text: str | None = None


async def claim(
    session: AsyncSession, turn_id: UUID, *, owner: str, lease_seconds: float
) -> Turn | None:
    """Take the turn under a new epoch; None when there is nothing to take."""
    return await session.scalar(
        update(Turn)
        .where(
            Turn.id == turn_id,
            Turn.stop_requested_at.is_(None),
            Turn.attempts < TURN_MAX_ATTEMPTS,
            or_(
                Turn.status == TurnStatus.QUEUED,
                (Turn.status == TurnStatus.RUNNING) & (Turn.lease_until < func.now()),
            ),
        )
        .values(
            status=TurnStatus.RUNNING,
            epoch=Turn.epoch + 1,
            attempts=Turn.attempts + 1,
            lease_owner=owner,
            lease_until=func.now() + timedelta(seconds=lease_seconds),
            lost_at=case((Turn.status == TurnStatus.RUNNING, Turn.lease_until), else_=Turn.lost_at),
            started_at=func.coalesce(Turn.started_at, func.now()),
        )
        .returning(Turn)
    )


async def silent_seconds(session: AsyncSession, turn: Turn) -> float | None:
    """How long ago the lease of the attempt before ran out; None when none did."""
    if turn.lost_at is None:
        return None
    age = func.extract("epoch", func.now() - Turn.lost_at)
    return float(await session.scalar(select(age).where(Turn.id == turn.id)) or 0.0)


@dataclass(frozen=True, slots=True)
class Held:
    """What a heartbeat finds of a turn that it still holds: whether somebody asked to stop it,
    and whether the person's session lives."""

    epoch: int
    stop: bool
    live: bool


async def renew_leases(
    session: AsyncSession, turn_ids: Sequence[UUID], *, owner: str, lease_seconds: float
) -> dict[UUID, Held]:
    """Lengthen the leases that `owner` still holds.

    A row that a tool's transaction has locked is left alone and reported as held.
    """
    mine = (
        Turn.id.in_(turn_ids),
        Turn.lease_owner == owner,
        Turn.status == TurnStatus.RUNNING,
    )
    free = select(Turn.id).where(*mine).with_for_update(skip_locked=True)
    await session.execute(
        update(Turn)
        .where(Turn.id.in_(free))
        .values(lease_until=func.now() + timedelta(seconds=lease_seconds))
        .execution_options(synchronize_session=False)
    )
    live = live_sessions().where(UserSession.id == Turn.session_id).exists()
    held = await session.execute(
        select(Turn.id, Turn.epoch, Turn.stop_requested_at.is_not(None), live).where(*mine)
    )
    return {turn_id: Held(epoch, stop, lives) for turn_id, epoch, stop, lives in held}


async def hold(session: AsyncSession, turn_id: UUID, epoch: int) -> Turn:
    """Lock the turn for a write of this epoch. Raises LostLeaseError under another one."""
    turn = await session.scalar(
        select(Turn)
        .where(Turn.id == turn_id, Turn.epoch == epoch, Turn.status == TurnStatus.RUNNING)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if turn is None:
        raise LostLeaseError
    return turn


async def require_open_chat(session: AsyncSession, turn: Turn) -> None:
    """Raise ChatNotFoundError when the turn's chat is gone: nothing more is done for it."""
    chat = select(Chat.id).where(Chat.id == turn.chat_id, Chat.deleted_at.is_(None))
    if await session.scalar(chat) is None:
        raise ChatNotFoundError


async def load(session: AsyncSession, turn_id: UUID) -> TurnState | None:
    """The turn with everything committed of it."""
    turn = await session.scalar(
        select(Turn).where(Turn.id == turn_id).execution_options(populate_existing=True)
    )
    if turn is None:
        return None
    steps = await session.scalars(select(Step).where(Step.turn_id == turn_id).order_by(Step.number))
    calls: dict[int, dict[int, ToolCall]] = {}
    rows = await session.scalars(
        select(ToolCall).where(ToolCall.turn_id == turn_id).order_by(ToolCall.ordinal)
    )
    state = TurnState(turn, list(steps), calls)
    for call in rows:
        calls.setdefault(call.step, {})[call.ordinal] = call
    return state


async def commit_step(
    session: AsyncSession, state: TurnState, step: Step, calls: Sequence[ToolCall]
) -> None:
    """Store what the model said and asked for, before any of it is done."""
    turn = await hold(session, state.turn.id, state.turn.epoch)
    await add_step(session, state, step, calls)
    await _store_message(session, turn, state, MessageStatus.STREAMING)


async def add_step(
    session: AsyncSession, state: TurnState, step: Step, calls: Sequence[ToolCall]
) -> None:
    """Add a step's rows to the turn and to its state; the caller holds the turn."""
    session.add(step)
    session.add_all(calls)
    await session.flush()
    state.steps.append(step)
    state.calls[step.number] = {call.ordinal: call for call in calls}


async def lengthen_lease(session: AsyncSession, turn_id: UUID, seconds: float) -> None:
    """At the end of a transaction that holds the turn: heartbeats pass it over meanwhile, and
    it may have taken longer than a lease."""
    await session.execute(
        update(Turn)
        .where(Turn.id == turn_id)
        .values(lease_until=func.clock_timestamp() + timedelta(seconds=seconds))
        .execution_options(synchronize_session=False)
    )


def _of(call: ToolCall) -> tuple[ColumnElement[bool], ...]:
    return (
        ToolCall.turn_id == call.turn_id,
        ToolCall.step == call.step,
        ToolCall.ordinal == call.ordinal,
    )


async def mark_sent(session: AsyncSession, call: ToolCall) -> bool:
    """Note in the caller's transaction, which holds the turn, that a call is about to leave for
    another system; False when it may have left before."""
    call.sent_at = datetime.now(UTC)  # for us; what counts is the row's own
    marked = await session.execute(
        update(ToolCall)
        .where(*_of(call), ToolCall.sent_at.is_(None))
        .values(sent_at=func.clock_timestamp())
        .returning(ToolCall.ordinal)
        .execution_options(synchronize_session=False)
    )
    return marked.first() is not None


async def commit_result(
    session: AsyncSession,
    call: ToolCall,
    *,
    result: Mapping[str, Any] | None = None,
    inverse: Mapping[str, Any] | None = None,
    error: tuple[str, str] | None = None,
) -> None:
    """Store a call's outcome in the caller's transaction, which holds the turn.

    `error` is (code, text). Raises LostLeaseError when the call already has an outcome.
    """
    values: dict[str, Any] = {"finished_at": func.clock_timestamp()}
    if error is None:
        values |= {"status": "ok", "result": dict(result or {}), "inverse": inverse}
    else:
        values |= {"status": "error", "error_code": error[0], "error_text": error[1]}
    done = await session.execute(
        update(ToolCall)
        .where(*_of(call), ToolCall.status == "pending")
        .values(**values)
        .returning(ToolCall.ordinal)
        .execution_options(synchronize_session=False)
    )
    if done.first() is None:
        raise LostLeaseError


async def finish(session: AsyncSession, state: TurnState, ending: Ending) -> None:
    """End the turn: message, parts, generation and state together.

    The caller's transaction holds the turn (`hold`), or has locked it as the reaper does.
    """
    turn = state.turn
    for of_step in state.calls.values():
        for call in of_step.values():
            if call.status == "pending":
                code, text = "interrupted", render.INTERRUPTED_CALL
                if call.sent_at is not None:
                    unknown = UnknownOutcomeError()
                    code, text = unknown.code, f"{unknown.code}: {unknown.message}"
                await commit_result(session, call, error=(code, text))
                call.status, call.error_code, call.error_text = "error", code, text
    finished = await session.scalar(
        update(Turn)
        .where(
            Turn.id == turn.id,
            Turn.epoch == turn.epoch,
            Turn.status.in_((TurnStatus.QUEUED, TurnStatus.RUNNING)),
        )
        .values(
            status=ending.status,
            finish_reason=ending.finish_reason,
            truncated=ending.truncated,
            error_code=ending.error_code,
            error_text=ending.error_text,
            lease_owner=None,
            lease_until=None,
            finished_at=func.clock_timestamp(),
        )
        .returning(Turn)
        .execution_options(populate_existing=True)
    )
    if finished is None:
        raise LostLeaseError
    state.turn = finished
    await _store_message(session, finished, state, MESSAGE_STATUS[ending.status])
    await _close_generation(session, state)
    source = await session.scalar(
        update(Chat)
        .where(Chat.id == finished.chat_id)
        .values(updated_at=func.now())
        .returning(Chat.title_source)
        .execution_options(synchronize_session=False)
    )
    if (
        source == "message"
        and ending.status is TurnStatus.COMPLETED
        and finished.driver != "offline"
    ):
        # After the answer, never beside it.
        enqueue_after_commit(session, MakeTitle(chat_id=finished.chat_id))
    # The chat's row is ours by now: a message that was let wait for this answer is seen.
    if await waiting.next_up(session, finished.chat_id) is not None:
        enqueue_after_commit(session, SendQueued(chat_id=finished.chat_id))


async def _store_message(
    session: AsyncSession, turn: Turn, state: TurnState, status: MessageStatus
) -> None:
    values: dict[str, Any] = {
        "parts": render.message_parts(state.steps, state.calls),
        "content": render.message_text(state.steps),
        "tool_calls": render.tool_call_records(state.calls),
        "status": status,
    }
    if status is not MessageStatus.STREAMING:
        values["meta"] = {
            "chatId": str(turn.chat_id),
            "turnId": str(turn.id),
            "model": turn.model,
            **render.totals(turn, state.steps, state.calls),
        }
        if turn.error_text:
            values["meta"] |= {"error": turn.error_text, "errorCode": turn.error_code}
    await session.execute(
        update(Message)
        .where(
            Message.id == turn.assistant_message_id,
            Message.status == MessageStatus.STREAMING,
        )
        .values({getattr(Message, name): value for name, value in values.items()})
        .execution_options(synchronize_session=False)
    )


async def _close_generation(session: AsyncSession, state: TurnState) -> None:
    turn = state.turn
    totals = render.usage(turn, state.steps)
    await session.execute(
        update(Generation)
        .where(Generation.turn_id == turn.id, Generation.status == "pending")
        .values(
            status="error" if turn.status == TurnStatus.ERROR else "success",
            error_code=turn.error_code,
            cost_in_cents=render.cost(turn, state.steps),
            input_tokens=totals["inputTokens"],
            output_tokens=totals["outputTokens"],
            time_ms=totals.get("timeMs", 0),
            finished_at=func.now(),
        )
        .execution_options(synchronize_session=False)
    )


async def release(session: AsyncSession, turn_id: UUID, epoch: int, *, counted: bool) -> bool:
    """Give a running turn back unfinished, for the caller to enqueue; `counted`: the attempt
    counts against it.

    A turn whose attempts are used up is then settled by the reaper.
    """
    released = await session.execute(
        update(Turn)
        .where(Turn.id == turn_id, Turn.epoch == epoch, Turn.status == TurnStatus.RUNNING)
        .values(
            status=TurnStatus.QUEUED,
            attempts=Turn.attempts if counted else Turn.attempts - 1,
            lease_owner=None,
            lease_until=None,
            lost_at=None,
            enqueued_at=func.now(),
            enqueue_count=1,
        )
        .returning(Turn.id)
        .execution_options(synchronize_session=False)
    )
    return released.first() is not None
