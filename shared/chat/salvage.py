"""What an attempt said of a step that it never committed, read back from the turn's events.

The events are all that is left of it when its worker is gone. A turn that ends without
another attempt keeps these words as its last step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from shared.chat import render
from shared.chat.models import Step, ToolCall
from shared.chat.turns import TurnState

Entries = Sequence[tuple[int, bytes]]  # sequence number, encoded event


@dataclass(slots=True)
class _Said:
    """One attempt at a step."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    _open: str | None = None

    def take(self, event: dict[str, Any]) -> None:
        kind = str(event["type"])
        if kind.endswith("-delta") and "delta" in event:
            self._say(kind.removesuffix("-delta"), str(event["id"]), str(event["delta"]))
        elif kind == "tool-input-available":
            self.parts.append({"type": "tool", "ordinal": len(self.calls)})
            self.calls.append(event)
        elif kind == "source-url":
            self.parts.append(event)

    def _say(self, kind: str, id_: str, text: str) -> None:
        if self._open != id_:
            self._open = id_
            self.parts.append({"type": kind, "text": ""})
        self.parts[-1]["text"] += text


def unsaved_step(state: TurnState, entries: Entries) -> tuple[Step, list[ToolCall]] | None:
    """The step after the last committed one as its latest attempt left it; None when nothing
    was said. Its calls were never made, and say so.

    `entries` are the turn's events in order, or what Redis still holds of them.
    """
    done = state.steps[-1].seq if state.steps else 0
    said = _latest(event for seq, event in entries if seq > done)
    if said is None:
        return None
    number = len(state.steps) + 1
    step = Step(
        turn_id=state.turn.id,
        number=number,
        parts=said.parts,
        # After everything that was sent: a reader is shown the step anew, whole.
        seq=max(done, entries[-1][0]) + 1,
        finish_reason="interrupted",
        input_tokens=0,
        output_tokens=0,
    )
    made = enumerate(said.calls)
    return step, [_call(state.turn.id, number, ordinal, event) for ordinal, event in made]


def _latest(events: Iterable[bytes]) -> _Said | None:
    """The latest attempt that said something."""
    attempts = [_Said()]
    for raw in events:
        event = orjson.loads(raw)
        if event["type"] in ("start-step", "reset-step"):
            attempts.append(_Said())
        attempts[-1].take(event)
    return next((said for said in reversed(attempts) if said.parts), None)


def _call(turn_id: UUID, step: int, ordinal: int, event: dict[str, Any]) -> ToolCall:
    return ToolCall(
        turn_id=turn_id,
        step=step,
        ordinal=ordinal,
        name=str(event["toolName"]),
        args=event["input"],
        status="error",
        error_code="interrupted",
        error_text=render.INTERRUPTED_CALL,
    )
