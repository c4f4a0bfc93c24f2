"""One step as it comes out of the model: parts in order, calls assembled, events emitted."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never
from uuid import UUID

import orjson

from shared.bus import events
from shared.chat import render
from shared.chat.models import Step, ToolCall
from shared.core.tunables import MAX_ANSWER_CHARS, MAX_RAW_ARGUMENTS, MAX_STEP_CALLS
from workers.agent.emitter import Emitter
from workers.agent.toolset import BadCall, Toolset
from workers.llm.base import (
    CallArguments,
    CallEnd,
    CallStart,
    Finished,
    ModelError,
    ModelEvent,
    ReasoningPiece,
    TextPiece,
    Usage,
)

_LINK = re.compile(r"\]\((/[^\s)#]+)(#[\w-]+)?\)")


@dataclass(slots=True)
class _Call:
    ordinal: int
    name: str
    raw: str = ""
    extra: dict[str, Any] | None = None
    closed: bool = False


@dataclass(slots=True)
class StepDraft:
    """Everything said and asked for in the running step; nothing of it is stored yet. A step in
    which nothing comes is not begun: nobody sees it, and it will not be stored."""

    turn_id: UUID
    number: int
    emitter: Emitter
    toolset: Toolset
    known_pages: Mapping[str, tuple[str, str]]
    parts: list[dict[str, Any]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    finish_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    _open: str | None = None
    _drafts: dict[int, _Call] = field(default_factory=dict)
    _tail: str = ""
    _begun: bool = False
    counted: bool = False  # whether the provider told the tokens
    heard: float = 0.0  # the loop's time of the last event
    _size: int = 0
    _dropped: int = 0

    def take(self, event: ModelEvent) -> None:
        """Fold one model event in, and emit what a reader sees of it. Raises ModelError when
        the answer is larger than what is kept of one."""
        self.heard = asyncio.get_running_loop().time()
        match event:
            case TextPiece(text):
                self._say("text", text)
            case ReasoningPiece(text, field_name):
                self._say("reasoning", text, field_name)
            case CallStart(key, name):
                self._start_call(key, name)
            case CallArguments(key, text):
                self._add_arguments(key, text)
            case CallEnd(key, extra):
                if key in self._drafts:
                    self._drafts[key].extra = _kept(extra)
                    self._end_call(self._drafts[key])
            case Usage(input_tokens, output_tokens):
                self.count(input_tokens, output_tokens)
            case Finished(reason):
                self._begin()
                self.finish_reason = reason
            case _:
                assert_never(event)

    def count(self, input_tokens: int, output_tokens: int) -> None:
        """The tokens of this step: the provider's numbers, or our own where it gave none."""
        self.counted = True
        self.input_tokens, self.output_tokens = input_tokens, output_tokens

    def texts(self) -> list[str]:
        """All that the model wrote."""
        said = [part["text"] for part in self.parts if "text" in part]
        return said + [draft.raw for draft in self._drafts.values()]

    @property
    def said_nothing(self) -> bool:
        return not self.parts and not self._drafts

    def close(self) -> None:
        """End what is open: the text, and calls whose end never came."""
        self._close_text()
        for draft in self._drafts.values():
            self._end_call(draft, last=True)
        if self._dropped:
            refused = self.calls[-1]
            refused.status, refused.error_code = "error", "too_many_calls"
            refused.error_text = (
                f"too_many_calls: at most {MAX_STEP_CALLS} calls are made at once. This one and "
                f"{self._dropped} more were not; ask for fewer."
            )

    def to_step(self) -> Step:
        """The row, whose sequence number is that of the last event sent."""
        return Step(
            turn_id=self.turn_id,
            number=self.number,
            parts=self.parts,
            seq=self.emitter.seq,
            finish_reason=self.finish_reason or "interrupted",
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
        )

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.emitter.emit(events.StartStep())

    def _say(self, kind: str, text: str, field_name: str = "") -> None:
        text = self._whole(text)
        if not text:
            return
        self._grow(text)
        self._begin()
        if self._open != kind:
            self._close_text()
            self._open = kind
            part = {"type": kind, "text": ""}
            self.parts.append(part | {"field": field_name} if field_name else part)
            id_ = self._text_id()
            self.emitter.emit(
                events.TextStart(id_) if kind == "text" else events.ReasoningStart(id_)
            )
        self.parts[-1]["text"] += text
        id_ = self._text_id()
        self.emitter.emit(
            events.TextDelta(id_, text) if kind == "text" else events.ReasoningDelta(id_, text)
        )

    def _whole(self, text: str) -> str:
        """Text fit to be stored: halves of a surrogate pair joined over pieces, no NUL."""
        text, self._tail = self._tail + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._tail = text[:-1], text[-1]
        return storable(text)

    def _text_id(self) -> str:
        return render.text_id(self.number, len(self.parts) - 1)

    def _close_text(self) -> None:
        if self._open is None:
            return
        id_, kind = self._text_id(), self._open
        self._open = None
        self.emitter.emit(events.TextEnd(id_) if kind == "text" else events.ReasoningEnd(id_))
        if kind == "text":
            self._cite(self.parts[-1]["text"])

    def _cite(self, text: str) -> None:
        """A source for each link to a page that a tool of this turn returned."""
        cited = {part["url"] for part in self.parts if part["type"] == "source-url"}
        for url, fragment in _LINK.findall(text):
            page = self.known_pages.get(url)
            if page is None or url + fragment in cited:
                continue
            cited.add(url + fragment)
            page_id, title = page
            source = {"sourceId": page_id + fragment, "url": url + fragment, "title": title}
            self.parts.append({"type": "source-url", **source})
            self.emitter.emit(events.SourceUrl(source["sourceId"], source["url"], title))

    def _grow(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_ANSWER_CHARS:
            raise ModelError(
                f"The model wrote more than {MAX_ANSWER_CHARS:,} characters at once.",
                code="provider_bad_response",
            )

    def _start_call(self, key: int, name: str) -> None:
        if len(self._drafts) >= MAX_STEP_CALLS:
            self._dropped += 1
            return
        self._begin()
        self._close_text()
        draft = _Call(len(self._drafts), storable(name)[:200])
        self._drafts[key] = draft
        title = self.toolset.title(draft.name)
        self.emitter.emit(events.ToolInputStart(self._call_id(draft), draft.name, title))

    def _add_arguments(self, key: int, text: str) -> None:
        draft = self._drafts.get(key)
        if draft is None:
            return
        self._grow(text)
        draft.raw += text
        self.emitter.emit(events.ToolInputDelta(self._call_id(draft), storable(text)))

    def _end_call(self, draft: _Call, *, last: bool = False) -> None:
        if draft.closed:
            return
        arguments = parse_arguments(draft.raw, cut=self.finish_reason == "length")
        if isinstance(arguments, BadCall) and not last:
            return  # why it is so is known at the end of the answer
        draft.closed = True
        kept = None if isinstance(arguments, dict) else storable(draft.raw)
        call = ToolCall(
            turn_id=self.turn_id,
            step=self.number,
            ordinal=draft.ordinal,
            name=draft.name,
            args=arguments if isinstance(arguments, dict) else {},
            raw_args=None if kept is None else kept[:MAX_RAW_ARGUMENTS],
            extra=draft.extra,
            status="pending",
        )
        if isinstance(arguments, BadCall):
            call.status, call.error_code = "error", arguments.code
            call.error_text = f"{draft.name}: {arguments.text}"
        self.calls.append(call)
        self.parts.append({"type": "tool", "ordinal": draft.ordinal})
        self.emitter.emit(render.input_event(call, self.toolset.title(draft.name)))

    def _call_id(self, draft: _Call) -> str:
        return render.call_id(self.turn_id, self.number, draft.ordinal)


def _kept(extra: dict[str, Any] | None) -> dict[str, Any] | None:
    """What the provider wants to see again, unless it cannot be kept."""
    try:
        return None if extra is None else storable_json(extra)
    except ValueError:
        return None


def storable(text: str) -> str:
    """Without NUL, which PostgreSQL refuses, and with lone surrogates replaced."""
    text = text.replace("\x00", "")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_arguments(raw: str, *, cut: bool = False) -> dict[str, Any] | BadCall:
    """A call's arguments; nothing at all counts as an empty object. `cut`: the answer ended
    at its limit of length."""
    if not raw.strip():
        return {}
    try:
        value = storable_json(json.loads(raw, parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        if cut:
            return BadCall(
                "truncated_arguments",
                "the arguments were truncated: the answer reached its limit of length. "
                "Ask for less in one call.",
            )
        return BadCall("bad_arguments", "the arguments are not valid JSON.")
    if not isinstance(value, dict):
        return BadCall("bad_arguments", "the arguments must be a JSON object.")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def storable_json(value: Any) -> Any:
    """A JSON value as it can be stored and sent on: no NUL, no half of a surrogate pair.

    Raises ValueError for what cannot be: numbers beyond 64 bits, hundreds of levels.
    """
    try:
        text = json.dumps(value, ensure_ascii=False).replace("\\u0000", "")
        return orjson.loads(orjson.dumps(json.loads(storable(text))))
    except (TypeError, RecursionError) as error:
        raise ValueError("not storable") from error
