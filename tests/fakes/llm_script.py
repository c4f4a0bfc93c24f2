"""What the stub server answers: replies, and the pieces of streams in the usual wire shape.

A `Reply` is a status, headers and a body of actions, played in order:

- `bytes` are written at once, as one chunk of their own
- a `Gate` is silence until a test opens it
- a number is silence of so many seconds
- `RESET` resets the connection (RST), `CUT` closes it without the body's proper end

The body's proper end is sent after the last action. `NO_HEAD` as status sends no head at all:
`Reply(NO_HEAD, [RESET])` resets before the first byte.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import orjson

NO_HEAD = 0
DONE = b"data: [DONE]\n\n"


class End(Enum):
    RESET = "reset"
    CUT = "cut"


RESET, CUT = End.RESET, End.CUT


class Gate(threading.Event):
    """Silence until `open()`, from whichever thread."""

    def open(self) -> None:
        self.set()


Action = bytes | Gate | float | End


@dataclass(frozen=True)
class Reply:
    """`framing` is chunked, length (everything is joined first; only bytes) or close (the end
    of the connection ends the body)."""

    status: int = 200
    body: Sequence[Action] = ()
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    framing: str = "chunked"


def data(payload: Any) -> bytes:
    """One frame; text goes as it is, everything else as JSON."""
    raw = payload.encode() if isinstance(payload, str) else orjson.dumps(payload)
    return b"data: " + raw + b"\n\n"


def chunk(
    delta: dict[str, Any] | None = None, *, finish: str | None = None, **more: Any
) -> dict[str, Any]:
    """A chat.completion.chunk with one choice; `more` goes beside `choices`."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion.chunk",
        "created": 1_800_000_000,
        "model": "stub",
        "choices": [choice],
        **more,
    }


def text(*pieces: str) -> list[bytes]:
    return [data(chunk({"content": piece})) for piece in pieces]


def reasoning(*pieces: str, name: str = "reasoning_content") -> list[bytes]:
    return [data(chunk({name: piece})) for piece in pieces]


def fragment(**fields: Any) -> bytes:
    """One frame with one entry of `tool_calls`; `name` and `arguments` go into `function`."""
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return data(chunk({"tool_calls": [{**fields, "function": function}]}))


def call(
    name: str, arguments: Any, *, index: int = 0, call_id: str = "call_1", pieces: int = 2
) -> list[bytes]:
    """A tool call as OpenAI streams it: the name first, the arguments in `pieces`."""
    raw = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    size = -(-len(raw) // pieces) or 1
    return [
        fragment(index=index, id=call_id, type="function", name=name, arguments=""),
        *(fragment(index=index, arguments=raw[at : at + size]) for at in range(0, len(raw), size)),
    ]


def finish(reason: str = "stop") -> bytes:
    return data(chunk(finish=reason))


def usage(prompt: int = 10, completion: int = 2) -> bytes:
    """The last frame that `stream_options: {include_usage: true}` asks for."""
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
    return data(
        {**chunk(), "choices": [], "usage": {**tokens, "total_tokens": prompt + completion}}
    )


def stream(*actions: Action | Sequence[Action]) -> Reply:
    """A 200 that plays these actions and nothing else; lists are flattened."""
    flat: list[Action] = []
    for action in actions:
        if isinstance(action, list | tuple):
            flat += action
        else:
            flat.append(action)  # type: ignore[arg-type]
    return Reply(body=flat)


def says(*pieces: str, reason: str = "stop", prompt: int = 10) -> Reply:
    """A whole, well-formed answer in words."""
    return stream(text(*pieces), finish(reason), usage(prompt, len(pieces)), DONE)


def calls(*wanted: tuple[str, Any], said: str = "") -> Reply:
    """A whole, well-formed answer that asks for tools: (name, arguments) each."""
    frames = text(said) if said else []
    for index, (name, arguments) in enumerate(wanted):
        frames += call(name, arguments, index=index, call_id=f"call_{index}")
    return stream(frames, finish("tool_calls"), usage(10, 5), DONE)


def json_reply(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, [orjson.dumps(body)], headers or {}, "application/json", "length")


def error(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    """An error in OpenAI's shape; `more` goes beside the message (`code`, `type`, `param`)."""
    return json_reply({"error": {"message": message, **more}}, status, headers)


def html(status: int, body: str) -> Reply:
    return Reply(status, [body.encode()], {}, "text/html; charset=utf-8", "length")
