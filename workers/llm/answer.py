"""One answer of a provider, read piece by piece: an event stream, or a whole completion."""

from collections.abc import Iterator
from typing import Any

from pydantic import SecretStr

from shared.core.tunables import PROVIDER_BODY_CHARS
from workers.llm import faults
from workers.llm.assembly import Assembly
from workers.llm.base import ModelError, ModelEvent
from workers.llm.error_body import for_people
from workers.llm.faults import Again, Fault
from workers.llm.json_text import loads
from workers.llm.sse import EventTooLongError, SseDecoder

_NOT_EVENTS = (b"{", b"[", b"<")  # how a body begins that is JSON or HTML
_PIECES_KEPT = 16  # of a body that is not understood, to tell what it is
_SPACE = b" \t\r\n\xef\xbb\xbf"  # also a byte order mark's bytes


class Answer:
    """Feed it the body's pieces, then `end` it, unless there is a `fault`: the answer fails
    after the events that were returned until then."""

    def __init__(self, key: SecretStr | None = None) -> None:
        self.done = False  # the stream said that it is
        self.fault: Fault | None = None
        self._key = key
        self._assembly = Assembly()
        self._decoder = SseDecoder()
        self._body: list[bytes] = []  # what is not an event stream
        self._kind = b""  # the body's first byte
        self._understood = False

    @property
    def finished(self) -> bool:
        """Whether the model has said its last word: what may follow are numbers."""
        return self.done or self._assembly.reason is not None

    def feed(self, piece: bytes) -> list[ModelEvent]:
        if not self._kind:
            self._kind = piece.lstrip(_SPACE)[:1]
        if self._kind in _NOT_EVENTS:
            self._body.append(piece)
            return []
        if not self._understood and len(self._body) < _PIECES_KEPT:
            self._body.append(piece)
        try:
            payloads = self._decoder.feed(piece)
        except EventTooLongError:
            text = "The provider sent more at once than Pageturn reads."
            self.fault = faults.bad_response(text)
            return []
        return self._payloads(payloads)

    def end(self) -> list[ModelEvent]:
        """The events at the end of the body; without a fault, the last of them is Finished."""
        plain = self._kind in _NOT_EVENTS
        events = self._payloads([b"".join(self._body)] if plain else self._decoder.end())
        self.done |= plain
        if self.fault is not None:
            return events
        try:
            reason = self._reason()
        except Fault as fault:
            self.fault = fault
            return events
        return [*events, *self._assembly.end(reason)]

    def usage(self) -> list[ModelEvent]:
        """The tokens told so far, for an answer that fails."""
        return self._assembly.usage() if self._assembly.said else []

    def _payloads(self, payloads: list[bytes]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        try:
            for payload in payloads:
                if self.done:
                    break
                if payload.strip() == b"[DONE]":
                    self.done = self._understood = True
                elif payload:
                    for chunk in self._chunks(payload):
                        events += self._take(chunk)
        except Fault as fault:
            self.fault = fault
        return events

    def _chunks(self, payload: bytes) -> Iterator[Any]:
        try:
            yield loads(payload)
            return
        except ValueError:
            lines = [line for line in payload.split(b"\n") if line.strip()]
        # Some servers forget the blank line between events, or send a value on each line.
        if len(lines) < 2:
            raise self._not_understood()
        for line in lines:
            yield from self._chunks(line)

    def _take(self, chunk: Any) -> list[ModelEvent]:
        if isinstance(chunk, list) and len(chunk) == 1:
            chunk = chunk[0]  # Google wraps errors
        if not isinstance(chunk, dict):
            raise self._not_understood()
        if chunk.get("error") or ("choices" not in chunk and _is_error(chunk)):
            raise faults.of_status(None, chunk, {}, self._key)
        self._understood = True
        if self._body:
            self._body.clear()
        return self._assembly.feed(chunk)

    def _reason(self) -> str:
        """Why the answer ends. Raises Fault when it does not, or says nothing."""
        reason = self._assembly.reason
        if reason in ("error", "overloaded"):
            raise _failed(reason)
        if not self._assembly.said:
            raise self._nothing(reason)
        if reason is not None:
            return reason
        if self.done or self._assembly.calls.whole():
            return "tool-calls" if self._assembly.calls else "stop"
        raise faults.broke_off()

    def _nothing(self, reason: str | None) -> Fault:
        if reason == "content-filter":
            text = "The provider's content filter withheld the answer."
            return Fault(ModelError(text, code="content_filter"))
        if reason == "length":
            text = "The model's output limit was reached before it said anything."
            return faults.bad_response(text)
        if not self._understood and b"".join(self._body).strip(_SPACE):
            return self._not_understood()
        return faults.bad_response("The model answered with nothing.", again=Again.EMPTY)

    def _not_understood(self) -> Fault:
        start = b"".join(self._body)[:PROVIDER_BODY_CHARS].decode("utf-8", "replace")
        words = for_people(start, self._key)
        text = "The provider's answer is not one of a chat-completions server"
        return faults.bad_response(f"{text}: {words}" if words else f"{text}.")


def _is_error(chunk: dict[str, Any]) -> bool:
    """Whether a chunk without choices tells a failure without the word."""
    return chunk.get("object") == "error" or any(
        isinstance(chunk.get(name), str) and chunk[name] for name in ("message", "detail", "msg")
    )


def _failed(reason: str) -> Fault:
    if reason == "overloaded":
        text = "The provider ran out of resources in the middle of the answer."
        return Fault(ModelError(text, code="provider_overloaded"), Again.BUSY)
    text = "The provider broke the answer off with an error."
    return Fault(ModelError(text, code="provider_error"), Again.BUSY)
