"""Fitting a conversation into the model's window. Pure: sizes in, messages out.

What goes first is what matters least: the long outputs of tools in earlier exchanges, then
the oldest exchanges (the caller summarises them), then the long outputs of this turn. A call
and its outcome stay together, always. Sizes are tokens by the encoding cl100k, which counts
other scripts than Latin generously, with a margin for models that count differently.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import orjson
from toktok import batch_count

from shared.core.tunables import (
    DEFAULT_CONTEXT_WINDOW,
    HISTORY_KEPT_SHARE,
    MESSAGE_TOKENS,
    OLD_RESULT_CHARS,
    OUTPUT_RESERVE_SHARE,
    OUTPUT_RESERVE_TOKENS,
    TOKEN_MARGIN,
)
from workers.agent.history import Exchange, Past
from workers.llm.base import (
    AssistantMessage,
    ContextTooLongError,
    ModelMessage,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)

_CUT = " … [cut: {left} more characters; call the tool again for the whole]"
_TOO_LONG = "This message is longer than the model can read."
_TOO_MUCH = "The model asked for more at once than it can read. Ask for a part of it."
_SUMMARY = "[What was said before, summarised by a program]\n{summary}\n[End of the summary]"
_LEFT_OUT = "[The earlier part of this conversation is left out]"


@dataclass(frozen=True, slots=True)
class Plan:
    """The messages of a request and their tokens; `dropped` are the exchanges that found no
    room."""

    messages: tuple[ModelMessage, ...]
    tokens: int
    dropped: tuple[Exchange, ...] = ()


def room(window: int | None) -> int:
    """Tokens of a window that a request may take: the rest is left for the answer."""
    window = window or DEFAULT_CONTEXT_WINDOW
    return window - min(OUTPUT_RESERVE_TOKENS, round(window * OUTPUT_RESERVE_SHARE))


def fixed(system: str, tools: Iterable[ToolSpec]) -> int:
    """Tokens of a request beside its messages."""
    return tokens([system, *(_spec_text(tool) for tool in tools)])


def plan(past: Past, current: Sequence[ModelMessage], budget: int) -> Plan:
    """Raises ContextTooLongError when the question alone does not fit."""
    exchanges = [
        replace(exchange, messages=tuple(map(_compacted, exchange.messages)))
        for exchange in past.exchanges
    ]
    head = _head(past, cut=False)
    whole = [m for exchange in exchanges for m in exchange.messages]
    everything = (*head, *whole, *past.question, *current)
    if (taken := size(everything)) <= budget:
        return Plan(everything, taken)
    kept, dropped = _newest(exchanges, past, current, budget)
    head = _head(past, cut=bool(dropped))
    before = [*head, *(m for exchange in kept for m in exchange.messages), *past.question]
    now = _shrunk(current, budget - size(before))
    if (taken := size([*before, *now])) > budget:
        raise ContextTooLongError(_TOO_MUCH if current else _TOO_LONG)
    return Plan((*before, *now), taken, tuple(dropped))


def _newest(
    exchanges: list[Exchange], past: Past, current: Sequence[ModelMessage], budget: int
) -> tuple[list[Exchange], list[Exchange]]:
    """The newest exchanges that fit, and the older rest. When something must go, more goes
    than needed, so that not every turn makes a new summary."""
    least = [_compacted(m) for m in current]
    free = budget - size([*_head(past, cut=True), *past.question, *least])
    sizes = [size(exchange.messages) for exchange in exchanges]
    if sum(sizes) <= free:
        return exchanges, []
    free = round(free * HISTORY_KEPT_SHARE)
    first = len(exchanges)
    while first > 0 and sizes[first - 1] <= free:
        first -= 1
        free -= sizes[first]
    return exchanges[first:], exchanges[:first]


def _head(past: Past, *, cut: bool) -> list[ModelMessage]:
    if past.summary:
        return [UserMessage(_SUMMARY.format(summary=past.summary))]
    return [UserMessage(_LEFT_OUT)] if cut or past.cut else []


def _shrunk(current: Sequence[ModelMessage], budget: int) -> list[ModelMessage]:
    """This turn's messages with the oldest outputs cut first, as far as it is needed."""
    messages = list(current)
    counts = _counts(map(_text, messages))
    for keep in (OLD_RESULT_CHARS, OLD_RESULT_CHARS // 8):
        for index, message in enumerate(messages):
            if _with_margin(counts) + MESSAGE_TOKENS * len(messages) <= budget:
                return messages
            messages[index] = _compacted(message, keep)
            if messages[index] is not message:
                counts[index : index + 1] = _counts([_text(messages[index])])
    return messages


def _compacted(message: ModelMessage, keep: int = OLD_RESULT_CHARS) -> ModelMessage:
    """A tool's long output, or a call's long arguments, cut with a word on what is missing."""
    if isinstance(message, AssistantMessage):
        return replace(message, calls=tuple(_short(call, keep) for call in message.calls))
    if not isinstance(message, ToolMessage) or len(message.content) <= keep + len(_CUT):
        return message
    left = len(message.content) - keep
    return replace(message, content=message.content[:keep] + _CUT.format(left=left))


def _short(call: ToolRequest, keep: int) -> ToolRequest:
    if len(call.arguments) <= keep + len(_CUT):
        return call
    told = {"cut": call.arguments[:keep] + _CUT.format(left=len(call.arguments) - keep)}
    return replace(call, arguments=orjson.dumps(told).decode())


def size(messages: Iterable[ModelMessage]) -> int:
    """Tokens of messages as a request carries them."""
    texts = [_text(message) for message in messages]
    return tokens(texts) + MESSAGE_TOKENS * len(texts)


def tokens(texts: Iterable[str]) -> int:
    """Tokens of texts, with the margin."""
    return _with_margin(_counts(texts))


def _counts(texts: Iterable[str]) -> list[int]:
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    counted: list[int] = batch_count(clean, threads=1)
    return counted


def _with_margin(counts: Iterable[int]) -> int:
    return round(sum(counts) * TOKEN_MARGIN)


def _text(message: ModelMessage) -> str:
    if isinstance(message, AssistantMessage):
        calls = (f"{call.name} {call.arguments} {call.extra or ''}" for call in message.calls)
        return "\n".join((message.text, message.reasoning, *calls))
    return message.content if isinstance(message, ToolMessage) else message.text


def _spec_text(tool: ToolSpec) -> str:
    return f"{tool.name} {tool.description} {orjson.dumps(tool.schema).decode()}"
