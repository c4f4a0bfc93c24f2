"""What the model is told of the conversation: rebuilt from stored rows for every request."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat import render
from shared.chat.models import Message, Turn
from shared.chat.turns import TurnState
from workers.llm.base import (
    AssistantMessage,
    ModelMessage,
    ToolMessage,
    ToolRequest,
    UserMessage,
)


async def before_turn(session: AsyncSession, turn: Turn) -> list[ModelMessage]:
    """The standing messages of the chat up to and with the turn's question."""
    rows = await session.scalars(
        select(Message)
        .where(
            Message.chat_id == turn.chat_id,
            Message.id <= turn.user_message_id,
            Message.replaced_at.is_(None),
        )
        .order_by(Message.id)
    )
    messages: list[ModelMessage] = []
    for row in rows:
        if row.role == "user":
            messages.append(UserMessage(row.content))
        else:
            messages += from_parts(row.parts)
    return messages


def of_turn(state: TurnState) -> list[ModelMessage]:
    """The turn's own committed steps."""
    return from_parts(render.message_parts(state.steps, state.calls))


def from_parts(parts: Iterable[Mapping[str, Any]]) -> list[ModelMessage]:
    """A stored assistant message as model messages: each step, then each call's outcome."""
    messages: list[ModelMessage] = []
    for step in _steps(parts):
        text = "\n\n".join(part["text"] for part in step if part["type"] == "text")
        tools = [part for part in step if part["type"].startswith("tool-")]
        calls = tuple(
            ToolRequest(p["toolCallId"], p["type"][5:], orjson.dumps(p["input"]).decode())
            for p in tools
        )
        if text or calls:
            messages.append(AssistantMessage(text, calls))
        messages += [_outcome(part) for part in tools]
    return messages


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
