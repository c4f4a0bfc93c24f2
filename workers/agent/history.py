"""What the model is told of the conversation: rebuilt from stored rows for every request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat import render
from shared.chat.branches import up_from
from shared.chat.models import Message, Step, StopReason, ToolCall, Turn
from shared.chat.turns import TurnState
from workers.llm.base import (
    AssistantMessage,
    ModelMessage,
    ToolMessage,
    ToolRequest,
    UserMessage,
)

GO_ON = "Go on from where you stopped."
INTERRUPTED = (
    "[A note by the program: your answer above is not complete. The person interrupted it to send "
    "the message below.]"
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with the answer to it; `last_id` is its last stored message."""

    last_id: UUID
    messages: tuple[ModelMessage, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """The branch before a turn's answer: a summary of its beginning, if it has one, the
    exchanges after that, and what is to be answered now. `cut`: exchanges before those are
    left out without a summary."""

    summary: str | None
    exchanges: tuple[Exchange, ...]
    question: tuple[ModelMessage, ...]
    cut: bool = False


async def before_turn(session: AsyncSession, turn: Turn) -> Past:
    """The messages above the turn's answer."""
    last = await session.scalar(
        select(Message.parent_id).where(Message.id == turn.assistant_message_id)
    )
    above = Message.id.in_(up_from(last))
    # What is to be answered is never a part of a summary.
    summarised = (
        await session.execute(
            select(Message.id, Message.summary, Message.meta)
            .where(above, Message.summary.is_not(None), Message.id < last)
            .order_by(Message.id.desc())
            .limit(1)
        )
    ).first()
    query = select(Message).where(above).order_by(Message.id)
    if summarised is not None:
        query = query.where(Message.id > summarised.id)
    rows = list(await session.scalars(query))
    summary = None if summarised is None else summarised.summary
    exchanges = list(_exchanges(rows, {} if summarised is None else summarised.meta))
    if rows and rows[-1].role == "assistant":  # the turn goes on with a cut answer
        return Past(summary, tuple(exchanges), (UserMessage(GO_ON),))
    question = exchanges.pop().messages if exchanges else ()
    return Past(summary, tuple(exchanges), question)


def _exchanges(rows: Sequence[Message], before: Mapping[str, Any]) -> Iterator[Exchange]:
    """`before`: what the message above the first row says of itself."""
    messages: list[ModelMessage] = []
    last: Message | None = None
    for row in rows:
        if row.role == "user" and last is not None:
            yield Exchange(last.id, tuple(messages))
            messages = []
        if row.role == "user" and before.get("stopReason") == StopReason.INTERRUPTED:
            messages.append(UserMessage(INTERRUPTED))
        messages += [UserMessage(row.content)] if row.role == "user" else from_parts(row.parts)
        last, before = row, row.meta
    if last is not None:
        yield Exchange(last.id, tuple(messages))


def of_turn(state: TurnState) -> list[ModelMessage]:
    """The turn's own committed steps, with what its provider wants to see again."""
    messages: list[ModelMessage] = []
    for step in state.steps:
        messages += _of_step(step, state.calls.get(step.number, {}))
    return messages


def _of_step(step: Step, calls: Mapping[int, ToolCall]) -> Iterator[ModelMessage]:
    parts = [render.tool_part(calls[p["ordinal"]]) for p in step.parts if p["type"] == "tool"]
    made = [calls[part["ordinal"]] for part in step.parts if part["type"] == "tool"]
    thoughts = [part for part in step.parts if part["type"] == "reasoning"]
    said = AssistantMessage(
        text=_said(step.parts),
        calls=tuple(_request(p, call.extra) for p, call in zip(parts, made, strict=True)),
        reasoning="".join(part["text"] for part in thoughts),
        reasoning_field=next((part.get("field", "") for part in thoughts), ""),
    )
    if said.text or said.calls:
        yield said
    yield from (_outcome(part) for part in parts)


def from_parts(parts: Iterable[Mapping[str, Any]]) -> list[ModelMessage]:
    """A stored assistant message as model messages: each step, then each call's outcome."""
    messages: list[ModelMessage] = []
    for step in _steps(parts):
        tools = [part for part in step if part["type"].startswith("tool-")]
        text = _said(step)
        if text or tools:
            messages.append(AssistantMessage(text, tuple(_request(part) for part in tools)))
        messages += [_outcome(part) for part in tools]
    return messages


def _said(parts: Iterable[Mapping[str, Any]]) -> str:
    return "\n\n".join(part["text"] for part in parts if part["type"] == "text")


def _request(part: Mapping[str, Any], extra: dict[str, Any] | None = None) -> ToolRequest:
    arguments = orjson.dumps(part["input"]).decode()
    return ToolRequest(part["toolCallId"], part["type"][5:], arguments, extra)


def _steps(parts: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    step: list[Mapping[str, Any]] = []
    for part in parts:
        if part["type"] == "step-start":
            if step:
                yield step
            step = []
        else:
            step.append(part)
    if step:
        yield step


def _outcome(part: Mapping[str, Any]) -> ToolMessage:
    """Every call gets one; a call cut off between request and result counts as failed."""
    name = part["type"][5:]
    if part["state"] == "output-available":
        return ToolMessage(part["toolCallId"], name, orjson.dumps(part["output"]).decode())
    text = part.get("errorText") or render.INTERRUPTED_CALL
    return ToolMessage(part["toolCallId"], name, text, is_error=True)


def known_pages(state: TurnState) -> dict[str, tuple[str, str]]:
    """The pages that this turn's calls returned: url without fragment → (id, title)."""
    found: dict[str, tuple[str, str]] = {}
    for of_step in state.calls.values():
        for call in of_step.values():
            if call.status == "ok":
                _collect(call.result, found)
    return found


def _collect(value: Any, found: dict[str, tuple[str, str]]) -> None:
    if isinstance(value, dict):
        if isinstance(value.get("url"), str) and "pageId" in value:
            url = value["url"].partition("#")[0]
            found[url] = (str(UUID(value["pageId"])), str(value.get("title", "")))
        for inner in value.values():
            _collect(inner, found)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, found)
