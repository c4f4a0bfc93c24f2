"""Tool calls put together from fragments, whichever way a server cuts them.

OpenAI sends a call's id and name first and then pieces of its arguments, each with the call's
`index`. Others leave the index out or make it 0 for every call, send no id, the same for every
call or another with every piece, the name late, in pieces or again and again, or whole calls.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from shared.core.tunables import MODEL_EXTRA_BYTES
from workers.llm import json_text
from workers.llm.base import CallArguments, CallEnd, CallStart, ModelEvent

_KEPT = "extra_content"  # Gemini's thought signatures


@dataclass(slots=True)
class _Call:
    key: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: dict[str, Any] | None = None
    started: bool = False
    ended: bool = False

    def named(self, piece: str) -> None:
        """Take a name, a piece of one, or the name so far."""
        if not self.started and piece != self.name:
            self.name = piece if piece.startswith(self.name) else self.name + piece

    def whole(self) -> bool:
        for piece in reversed(self.arguments):
            if end := piece.rstrip():
                return end.endswith("}") and json_text.is_object("".join(self.arguments))
        return False


class ToolCalls:
    """The calls of one answer, in order of appearance."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int | str, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def whole(self) -> bool:
        """Whether there are calls, and all have arguments that are JSON objects."""
        return bool(self._calls) and all(call.whole() for call in self._calls)

    def take(self, fragments: list[Any]) -> Iterator[ModelEvent]:
        """Fold one delta's `tool_calls` in."""
        for place, fragment in enumerate(fragments):
            if isinstance(fragment, dict):
                index = fragment.get("index")
                if isinstance(index, bool) or not isinstance(index, int | str):
                    index = place if len(fragments) > 1 else None
                yield from self._take(index, fragment)

    def take_old(self, function_call: dict[str, Any]) -> Iterator[ModelEvent]:
        """Fold a delta's `function_call` in: the form before `tool_calls`, one call at most."""
        yield from self._take("function_call", {"function": function_call})

    def end_whole(self) -> Iterator[ModelEvent]:
        """End the calls that need nothing more: something else follows them."""
        for call in self._calls:
            if not call.ended and call.whole():
                yield from self._end(call)

    def end(self) -> Iterator[ModelEvent]:
        for call in self._calls:
            if not call.ended:
                yield from self._end(call)

    def _take(self, index: int | str | None, fragment: dict[str, Any]) -> Iterator[ModelEvent]:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = fragment  # some put name and arguments beside the id
        id_, name = _text(fragment.get("id")), _text(function.get("name"))
        arguments = _arguments(function.get("arguments"))
        call = self._find(index, id_, name, arguments)
        if name:
            call.named(name)
        extra = fragment.get(_KEPT)
        if isinstance(extra, dict) and _can_be_kept(extra):
            call.extra = {_KEPT: {**(call.extra or {}).get(_KEPT, {}), **extra}}
        if arguments and not call.ended:
            call.arguments.append(arguments)
            if call.started:
                yield CallArguments(call.key, arguments)
            elif call.name:
                # Those before it have their names by now, and keep their places.
                for waiting in self._calls[: call.key + 1]:
                    if waiting.name and not waiting.started:
                        yield from self._start(waiting)

    def _find(self, index: int | str | None, id_: str, name: str, arguments: str) -> _Call:
        """The call that a fragment belongs to, which it may begin."""
        if index is not None:
            call = self._at.get(index)
        elif id_ in self._by_id:
            call = self._by_id[id_]
        else:
            call = self._calls[-1] if self._calls else None
            if call is not None and id_ and (call.id or name):
                call = None
        if call is None or _begins_another(call, id_, name, arguments):
            call = _Call(len(self._calls))
            self._calls.append(call)
        if id_:
            call.id = call.id or id_
            self._by_id[id_] = call
        if index is not None:
            self._at[index] = call
        return call

    def _start(self, call: _Call) -> Iterator[ModelEvent]:
        call.started = True
        yield CallStart(call.key, call.name)
        if call.arguments:
            yield CallArguments(call.key, "".join(call.arguments))

    def _end(self, call: _Call) -> Iterator[ModelEvent]:
        if not call.started:
            yield from self._start(call)
        call.ended = True
        yield CallEnd(call.key, call.extra)


def _begins_another(call: _Call, id_: str, name: str, arguments: str) -> bool:
    """Whether a fragment for the place of this call is the next call's first.

    Another id alone says little: there are servers that make one up for every piece.
    """
    if id_ and call.id and id_ != call.id and (name or call.whole()):
        return True
    again = bool(name and call.name) and (bool(arguments) or name != call.name)
    return again and call.whole()


def _can_be_kept(extra: dict[str, Any]) -> bool:
    try:
        raw = orjson.dumps(extra)
    except orjson.JSONEncodeError:  # half of a surrogate pair
        return False
    return len(raw) <= MODEL_EXTRA_BYTES and b"\\u0000" not in raw


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    """A piece of the arguments' text, or all of them as a value."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json_text.dumps(value)
    except ValueError:
        return "null"  # which the tool will refuse
