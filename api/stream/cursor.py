"""What one reader has been sent of a turn, and what it needs next. Pure.

Two sources feed it: the committed state (`sync`) and the live events (`feed`). Between
them each event reaches the reader once: the cursor drops what it already sent, notices a
gap, and withdraws a step only from a reader that has in fact seen half of it.
"""

from collections.abc import Mapping, Sequence

from shared.bus import events
from shared.bus.stream import epoch_of, is_epoch_start
from shared.chat import render
from shared.chat.models import Step, ToolCall
from shared.chat.turns import TurnState

_OUTPUTS = ("tool-output-available", "tool-output-error")
_ENDS = ("finish", "error")
# The kinds that only make sense after the beginning of their step.
_INSIDE_STEP = ("text", "reasoning", "tool-input", "source")


class NeedSyncError(Exception):
    """The live events do not connect to what was sent: look at the committed state first."""


class Cursor:
    """One reader's position. Frames come out as bytes ready for the response.

    `lost` means that a part of the running step went by unseen: the rest of it is held
    back, and the step is sent whole once it has been committed.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        self._seq = 0
        self._started = False
        self._steps_done = 0
        self._in_step = False
        self._shown = False  # whether the open step has parts that a reset would withdraw
        self._lost = False
        self._outputs: set[str] = set()
        self.ended = False

    @property
    def seq(self) -> int:
        """The number up to which everything has been sent or is superseded."""
        return self._seq

    def connects(self, seq: int) -> bool:
        """Whether nothing is missing between what was sent and this event."""
        return seq <= self._seq + 1 or is_epoch_start(seq)

    def feed(self, seq: int, data: bytes, *, synced: bool = False) -> list[bytes]:
        """Frames for a live event. Raises NeedSyncError when a sync must come first;
        feed the same event again after it, with `synced`."""
        if self.ended or seq <= self._seq:
            return []
        kind = events.kind(data)
        inside = kind.startswith(_INSIDE_STEP)
        if not synced:
            self._require_connected(seq, inside=inside)
        self._seq = seq
        if inside and not self._in_step:
            self._lost = True
        if self._lost and inside:
            return []
        self._lost = False
        return [events.frame(seq, data)] if self._admit(kind, data) else []

    def _require_connected(self, seq: int, *, inside: bool) -> None:
        if not self.connects(seq):
            self._lost = True
            raise NeedSyncError
        later_attempt = is_epoch_start(seq) and epoch_of(seq) > 1
        if later_attempt or (self._lost and not inside):
            raise NeedSyncError

    def _admit(self, kind: str, data: bytes) -> bool:
        """Whether a live event goes out, and what it changes here."""
        if kind == "start-step":
            fresh, self._in_step = not self._in_step, True
            return fresh
        if kind == "finish-step":
            was_open = self._in_step
            self._close_step(self._steps_done + was_open)
            return was_open
        if kind == "reset-step":
            shown, self._shown = self._shown, False
            return self._in_step and shown
        if kind in _OUTPUTS:
            call = events.tool_call_id(data)
            fresh = call not in self._outputs
            self._outputs.add(call)
            return fresh
        self._shown = self._in_step
        self.ended = kind in _ENDS
        return True

    def replay(self, entries: Sequence[tuple[int, bytes]]) -> None:
        """Count these live events, all of them from the first on, as sent."""
        self._started = True
        for seq, data in entries:
            self.feed(seq, data, synced=True)

    def sync(self, state: TurnState) -> list[bytes]:
        """Frames that bring the reader up to the committed state, from `start` if need be."""
        out: list[events.Event] = []
        if self.ended:
            return []
        if not self._started:
            self._started = True
            out.append(render.start_event(state.turn))
        for step in state.steps:
            if step.number > self._steps_done:
                out += self._catch_up(step, state)
        terminal = render.terminal_events(state.turn, state.steps, state.calls)
        half = self._in_step and self._steps_done == len(state.steps)
        if half and self._shown and (terminal or self._lost):
            # Half of a step that was never committed, and whose rest does not come this way.
            out.append(events.ResetStep())
            self._shown = False
        if terminal:
            if self._in_step:
                out.append(events.FinishStep())
                self._close_step(self._steps_done)
            out += terminal
            self.ended = True
        # A number would promise that a reader cut off here may go on after it: what is made of
        # rows has none, and who was cut off in it begins anew.
        return [events.frame(0, events.encode(event)) for event in out]

    def _catch_up(self, step: Step, state: TurnState) -> list[events.Event]:
        """A committed step that this reader has not seen to its end."""
        calls = state.calls.get(step.number, {})
        out: list[events.Event] = []
        if not self._in_step:
            out.append(events.StartStep())
        if not self._in_step or self._lost or self._seq < step.seq:
            if self._shown:
                out.append(events.ResetStep())
            out += render.step_events(step, calls, self._titles)
            self._outputs -= {_id(call) for call in calls.values()}
        self._in_step, self._shown, self._lost = True, True, False
        out += self._missing_outputs(calls)
        if all(call.status != "pending" for call in calls.values()):
            out.append(events.FinishStep())
            self._close_step(step.number)
        self._seq = max(self._seq, step.seq)
        return out

    def _close_step(self, done: int) -> None:
        self._in_step, self._shown, self._steps_done = False, False, done

    def _missing_outputs(self, calls: Mapping[int, ToolCall]) -> list[events.Event]:
        out: list[events.Event] = []
        for _, call in sorted(calls.items()):
            if call.status != "pending" and _id(call) not in self._outputs:
                self._outputs.add(_id(call))
                out.append(render.output_event(call))
        return out


def _id(call: ToolCall) -> str:
    return render.call_id(call.turn_id, call.step, call.ordinal)
