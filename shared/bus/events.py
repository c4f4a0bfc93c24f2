"""The events of a turn: chunks of the AI SDK's UI message stream, version 1.

One closed union, encoded once by the worker; the API forwards the bytes. A field that is
None is left out, for the browser's reader rejects nulls. Source: the schema in the npm
package `ai` 7.0.173.
"""

from dataclasses import dataclass
from typing import Any, assert_never

import orjson

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    message_id: str
    metadata: Json


@dataclass(frozen=True, slots=True)
class StartStep:
    pass


@dataclass(frozen=True, slots=True)
class FinishStep:
    pass


@dataclass(frozen=True, slots=True)
class ResetStep:
    """Withdraws what a crashed attempt said of a step that was never committed."""


@dataclass(frozen=True, slots=True)
class TextStart:
    id: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class TextEnd:
    id: str


@dataclass(frozen=True, slots=True)
class ReasoningStart:
    id: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    id: str


@dataclass(frozen=True, slots=True)
class ToolInputStart:
    tool_call_id: str
    tool_name: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    tool_call_id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ToolInputAvailable:
    tool_call_id: str
    tool_name: str
    input: Json
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ToolInputError:
    """A call whose arguments could not be read."""

    tool_call_id: str
    tool_name: str
    input: Any
    error_text: str


@dataclass(frozen=True, slots=True)
class ToolOutputAvailable:
    tool_call_id: str
    output: Json


@dataclass(frozen=True, slots=True)
class ToolOutputError:
    tool_call_id: str
    error_text: str


@dataclass(frozen=True, slots=True)
class SourceUrl:
    source_id: str
    url: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class MessageMetadata:
    metadata: Json


@dataclass(frozen=True, slots=True)
class Abort:
    reason: str


@dataclass(frozen=True, slots=True)
class Error:
    error_text: str


@dataclass(frozen=True, slots=True)
class Finish:
    reason: str
    metadata: Json


Event = (
    Start
    | StartStep
    | FinishStep
    | ResetStep
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolInputError
    | ToolOutputAvailable
    | ToolOutputError
    | SourceUrl
    | MessageMetadata
    | Abort
    | Error
    | Finish
)


def to_chunk(event: Event) -> Json:
    """The chunk as the browser reads it, `type` first, None fields left out."""
    match event:
        case Start(message_id, metadata):
            return {"type": "start", "messageId": message_id, "messageMetadata": metadata}
        case StartStep():
            return {"type": "start-step"}
        case FinishStep():
            return {"type": "finish-step"}
        case ResetStep():
            return {"type": "reset-step"}
        case TextStart(id_):
            return {"type": "text-start", "id": id_}
        case TextDelta(id_, delta):
            return {"type": "text-delta", "id": id_, "delta": delta}
        case TextEnd(id_):
            return {"type": "text-end", "id": id_}
        case ReasoningStart(id_):
            return {"type": "reasoning-start", "id": id_}
        case ReasoningDelta(id_, delta):
            return {"type": "reasoning-delta", "id": id_, "delta": delta}
        case ReasoningEnd(id_):
            return {"type": "reasoning-end", "id": id_}
        case ToolInputStart(call, name, title):
            return _titled(
                {"type": "tool-input-start", "toolCallId": call, "toolName": name}, title
            )
        case ToolInputDelta(call, delta):
            return {"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": delta}
        case ToolInputAvailable(call, name, value, title):
            chunk = {"type": "tool-input-available", "toolCallId": call, "toolName": name}
            return _titled(chunk | {"input": value}, title)
        case ToolInputError(call, name, value, text):
            chunk = {"type": "tool-input-error", "toolCallId": call, "toolName": name}
            return chunk | {"input": value, "errorText": text}
        case ToolOutputAvailable(call, output):
            return {"type": "tool-output-available", "toolCallId": call, "output": output}
        case ToolOutputError(call, text):
            return {"type": "tool-output-error", "toolCallId": call, "errorText": text}
        case SourceUrl(source_id, url, title):
            return _titled({"type": "source-url", "sourceId": source_id, "url": url}, title)
        case MessageMetadata(metadata):
            return {"type": "message-metadata", "messageMetadata": metadata}
        case Abort(reason):
            return {"type": "abort", "reason": reason}
        case Error(text):
            return {"type": "error", "errorText": text}
        case Finish(reason, metadata):
            return {"type": "finish", "finishReason": reason, "messageMetadata": metadata}
        case _:
            assert_never(event)


def _titled(chunk: Json, title: str | None) -> Json:
    return chunk if title is None else chunk | {"title": title}


# Raw in JSON these three end a line for naive readers of an event stream.
_LINE_ENDS = (
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
    ("\u0085".encode(), b"\\u0085"),
)


def encode(event: Event) -> bytes:
    """The chunk as one line of UTF-8 JSON. Raises TypeError on lone surrogates."""
    data = orjson.dumps(to_chunk(event))
    for raw, escaped in _LINE_ENDS:
        if raw in data:
            data = data.replace(raw, escaped)
    return data


def kind(data: bytes) -> str:
    """The type of an encoded chunk, without parsing it (`type` is always first)."""
    return data[9 : data.index(b'"', 9)].decode()


def tool_call_id(data: bytes) -> str:
    """The tool call that an encoded tool chunk is about."""
    found: str = orjson.loads(data)["toolCallId"]
    return found


def frame(seq: int, data: bytes) -> bytes:
    """One Server-Sent Event carrying an encoded chunk."""
    return b"id: %d\ndata: %s\n\n" % (seq, data)


DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"
