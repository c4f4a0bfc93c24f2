"""A model that plays a script: one list of events a request. It remembers what it was asked,
and complains about steps that nobody consumed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import orjson

from workers.llm.base import (
    CallArguments,
    CallEnd,
    CallStart,
    Finished,
    ModelEvent,
    ModelRequest,
    TextPiece,
    Usage,
)

Play = ModelEvent | Exception | asyncio.Event | Callable[[], None]


def say(*pieces: str, reason: str = "stop") -> list[Play]:
    """A step of text."""
    return [*(TextPiece(piece) for piece in pieces), Usage(10, len(pieces)), Finished(reason)]


def call(*calls: tuple[str, dict[str, object] | str], text: str = "") -> list[Play]:
    """A step that asks for tools; arguments as an object, or as raw text."""
    events: list[Play] = [TextPiece(text)] if text else []
    for key, (name, args) in enumerate(calls):
        raw = args if isinstance(args, str) else orjson.dumps(args).decode()
        half = len(raw) // 2
        events += [
            CallStart(key, name),
            CallArguments(key, raw[:half]),
            CallArguments(key, raw[half:]),
            CallEnd(key),
        ]
    return [*events, Usage(10, 5), Finished("tool-calls")]


@dataclass
class ScriptedModel:
    """`forever` is played again and again once the script is used up; `small`, where given,
    to each small call (a title, a summary), which is then not of the script."""

    script: list[Sequence[Play]] = field(default_factory=list)
    forever: Sequence[Play] | None = None
    small: Sequence[Play] | None = None
    small_requests: list[ModelRequest] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    cancelled: int = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self.small is not None and request.max_output_tokens is not None:
            self.small_requests.append(request)
            step = self.small
        else:
            self.requests.append(request)
            step = self._next()
        async for event in self._play(step):
            yield event

    def _next(self) -> Sequence[Play]:
        if self.script:
            return self.script.pop(0)
        if self.forever is not None:
            return self.forever
        raise AssertionError("the model was asked more often than the script says")

    async def _play(self, step: Sequence[Play]) -> AsyncIterator[ModelEvent]:
        try:
            for event in step:
                if isinstance(event, Exception):
                    raise event
                if isinstance(event, asyncio.Event):
                    await event.wait()
                elif callable(event):
                    event()
                else:
                    yield event
                    await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    def assert_consumed(self) -> None:
        assert not self.script, f"{len(self.script)} scripted steps were never asked for"
