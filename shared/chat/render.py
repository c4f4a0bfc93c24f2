"""From committed rows to what is shown: message parts, and the events of a step or an end.

The same functions serve the worker (stored parts, live terminal events), the stream's
readers (replay) and the list of messages.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from shared.bus import events
from shared.chat.generations import Price
from shared.chat.models import Step, ToolCall, Turn, TurnStatus

Part = dict[str, Any]
Calls = Mapping[int, ToolCall]  # by ordinal

INTERRUPTED_CALL = "The turn ended before this call was made."


def call_id(turn_id: UUID, step: int, ordinal: int) -> str:
    """Our own identity of a tool call; a model's ids repeat, are empty, or change."""
    return f"call_{turn_id.hex[-12:]}_{step}_{ordinal}"


def text_id(step: int, index: int) -> str:
    return f"{step}.{index}"


def tool_part(call: ToolCall) -> Part:
    """A call as the AI SDK's tool part, in the state that its row is in."""
    part: Part = {
        "type": f"tool-{call.name}",
        "toolCallId": call_id(call.turn_id, call.step, call.ordinal),
        "input": call.args,
    }
    if call.status == "ok":
        return part | {"state": "output-available", "output": call.result}
    if call.status == "error":
        return part | {"state": "output-error", "errorText": call.error_text or ""}
    return part | {"state": "input-available"}


def message_parts(steps: Sequence[Step], calls: Mapping[int, Calls]) -> list[Part]:
    """All committed steps as the parts of one message; `calls` by step, then ordinal."""
    parts: list[Part] = []
    for step in steps:
        parts.append({"type": "step-start"})
        for part in step.parts:
            if part["type"] == "tool":
                parts.append(tool_part(calls[step.number][part["ordinal"]]))
            elif part["type"] in ("text", "reasoning"):
                parts.append({"type": part["type"], "text": part["text"], "state": "done"})
            else:
                parts.append(part)
    return parts


def message_text(steps: Sequence[Step]) -> str:
    """What was said, without calls and reasoning."""
    texts = [p["text"] for step in steps for p in step.parts if p["type"] == "text"]
    return "\n\n".join(texts)


def tool_call_records(calls: Mapping[int, Calls]) -> list[Part]:
    """The calls of a message as plain records, in order."""
    return [
        {
            "name": call.name,
            "args": call.args,
            "result": call.result if call.status == "ok" else {"error": call.error_text},
            "isError": call.status == "error",
        }
        for _, of_step in sorted(calls.items())
        for _, call in sorted(of_step.items())
    ]


def step_events(step: Step, calls: Calls, titles: Mapping[str, str]) -> Iterator[events.Event]:
    """What the model said and asked for in a step, without the outputs of its calls."""
    for index, part in enumerate(step.parts):
        id_ = text_id(step.number, index)
        match part["type"]:
            case "text":
                yield events.TextStart(id_)
                yield events.TextDelta(id_, part["text"])
                yield events.TextEnd(id_)
            case "reasoning":
                yield events.ReasoningStart(id_)
                yield events.ReasoningDelta(id_, part["text"])
                yield events.ReasoningEnd(id_)
            case "source-url":
                yield events.SourceUrl(part["sourceId"], part["url"], part.get("title"))
            case "tool":
                call = calls[part["ordinal"]]
                yield input_event(call, titles.get(call.name))


def input_event(call: ToolCall, title: str | None) -> events.Event:
    """A call with its arguments as understood."""
    id_ = call_id(call.turn_id, call.step, call.ordinal)
    return events.ToolInputAvailable(id_, call.name, call.args, title)


def output_event(call: ToolCall) -> events.Event:
    """The outcome of a finished call."""
    id_ = call_id(call.turn_id, call.step, call.ordinal)
    if call.status == "ok":
        return events.ToolOutputAvailable(id_, call.result or {})
    return events.ToolOutputError(id_, call.error_text or "")


def start_event(turn: Turn) -> events.Start:
    metadata = {"chatId": str(turn.chat_id), "turnId": str(turn.id), "model": turn.model}
    return events.Start(str(turn.assistant_message_id), metadata)


def cost(turn: Turn, steps: Sequence[Step]) -> Decimal:
    """What the turn's tokens cost in US cents, by the prices at its beginning."""
    price = Price(turn.input_price, turn.output_price)
    return price.cents(sum(s.input_tokens for s in steps), sum(s.output_tokens for s in steps))


def usage(turn: Turn, steps: Sequence[Step]) -> dict[str, Any]:
    """A turn's totals: tokens over its steps, what the last request and its answer took of
    the model's window, cents, and milliseconds from claim to end."""
    metadata: dict[str, Any] = {
        "inputTokens": sum(step.input_tokens for step in steps),
        "outputTokens": sum(step.output_tokens for step in steps),
        "costInCents": float(cost(turn, steps)),
        "steps": len(steps),
        "truncated": turn.truncated,
    }
    if steps:
        metadata["contextTokens"] = steps[-1].input_tokens + steps[-1].output_tokens
    if turn.context_window is not None:
        metadata["contextWindow"] = turn.context_window
    if turn.started_at is not None and turn.finished_at is not None:
        metadata["timeMs"] = round((turn.finished_at - turn.started_at).total_seconds() * 1000)
    return metadata


def changes(calls: Mapping[int, Calls]) -> list[dict[str, Any]]:
    """What the calls did to pages: each change that can be undone, in order."""
    done = []
    for _, of_step in sorted(calls.items()):
        for _, call in sorted(of_step.items()):
            if call.status == "ok" and call.inverse is not None and call.result is not None:
                change = {
                    key: call.result.get(key) for key in ("pageId", "title", "url", "version")
                }
                created = call.inverse.get("action") == "trash_page"
                done.append(change | {"action": "created" if created else "edited"})
    return done


def totals(turn: Turn, steps: Sequence[Step], calls: Mapping[int, Calls]) -> dict[str, Any]:
    """What a finished message says of itself."""
    metadata = usage(turn, steps) | {"changes": changes(calls)}
    if turn.finish_reason:
        metadata["finishReason"] = turn.finish_reason
    if turn.status == TurnStatus.ABORTED and turn.stop_reason:
        metadata["stopReason"] = turn.stop_reason
    return metadata


def terminal_events(
    turn: Turn, steps: Sequence[Step], calls: Mapping[int, Calls]
) -> list[events.Event]:
    """How a turn that has ended ends its stream; empty while it has not."""
    metadata = totals(turn, steps, calls)
    match turn.status:
        case TurnStatus.COMPLETED:
            return [events.Finish(turn.finish_reason or "stop", metadata)]
        case TurnStatus.ABORTED:
            return [events.Abort("stopped"), events.Finish("interrupted", metadata)]
        case TurnStatus.ERROR:
            # A reader leaves after an error: what is known goes before it.
            return [
                events.MessageMetadata(metadata | {"errorCode": turn.error_code or "internal"}),
                events.Error(turn.error_text or "The answer could not be finished."),
            ]
        case _:
            return []
