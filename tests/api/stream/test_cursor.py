"""Whatever a reader missed, and whenever it came, it ends with the message that is stored."""

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.stream.cursor import Cursor, NeedSyncError
from shared.bus import events
from shared.bus.stream import epoch_base
from shared.chat import render
from shared.chat.models import Step, ToolCall, Turn, TurnStatus
from shared.chat.turns import TurnState
from tests.fakes.ui_message import UiMessage

TURN = UUID(int=7)


@dataclass
class Play:
    """A turn played in memory: what is committed, and every event with its number."""

    state: TurnState = field(
        default_factory=lambda: TurnState(
            Turn(
                id=TURN,
                chat_id=UUID(int=1),
                assistant_message_id=UUID(int=2),
                model="m",
                epoch=1,
                status=TurnStatus.RUNNING,
                truncated=False,
            ),
            [],
            {},
        )
    )
    next: int = 1
    log: list[tuple[int, bytes]] = field(default_factory=list)

    def emit(self, *new: events.Event) -> None:
        for event in new:
            self.log.append((self.next, events.encode(event)))
            self.next += 1

    def say(self, number: int, text: str, calls: int) -> None:
        """A step's model output, emitted but not committed."""
        self.emit(events.StartStep(), events.TextStart(f"{number}.0"))
        self.emit(*(events.TextDelta(f"{number}.0", word) for word in text.split("|")))
        self.emit(events.TextEnd(f"{number}.0"))
        for ordinal in range(calls):
            self.emit(render.input_event(self._call(number, ordinal), None))

    def _call(self, number: int, ordinal: int) -> ToolCall:
        return ToolCall(
            turn_id=TURN, step=number, ordinal=ordinal, name="getPage", args={}, status="pending"
        )

    def commit(self, number: int, text: str, calls: int) -> None:
        parts: list[dict[str, object]] = [{"type": "text", "text": text.replace("|", "")}]
        parts += [{"type": "tool", "ordinal": ordinal} for ordinal in range(calls)]
        self.state.steps.append(
            Step(
                turn_id=TURN,
                number=number,
                parts=parts,
                seq=self.next - 1,
                finish_reason="stop",
                input_tokens=0,
                output_tokens=0,
            )
        )
        self.state.calls[number] = {i: self._call(number, i) for i in range(calls)}

    def answer(self, number: int, ordinal: int, *, heard: bool = True) -> None:
        call = self.state.calls[number][ordinal]
        call.status, call.result = "ok", {"n": ordinal}
        if heard:
            self.emit(render.output_event(call))

    def takeover(self) -> None:
        self.state.turn.epoch += 1
        self.next = epoch_base(self.state.turn.epoch) + 1
        if self.state.steps:
            last = self.state.steps[-1]
            pending = [c for c in self.state.calls[last.number].values() if c.status == "pending"]
            for call in pending:
                self.answer(last.number, call.ordinal)
            if pending:
                self.emit(events.FinishStep())
        self.emit(events.ResetStep())

    def end(self) -> None:
        self.state.turn.status = TurnStatus.COMPLETED
        self.state.turn.finish_reason = "stop"
        self.emit(events.FinishStep())
        self.emit(*render.terminal_events(self.state.turn, self.state.steps, self.state.calls))

    @property
    def stored(self) -> list[dict[str, object]]:
        parts = render.message_parts(self.state.steps, self.state.calls)
        return [{k: v for k, v in p.items() if k != "state"} for p in parts]


class Reader:
    """A browser behind a cursor: syncs when told, or when the cursor asks."""

    def __init__(self, play: Play) -> None:
        self.play, self.cursor, self.page = play, Cursor({}), UiMessage()

    def sync(self) -> None:
        self.page.feed_bytes(b"".join(self.cursor.sync(self.play.state)))

    def hear(self, seq: int, data: bytes) -> None:
        try:
            frames = self.cursor.feed(seq, data)
        except NeedSyncError:
            self.sync()
            frames = self.cursor.feed(seq, data, synced=True)
        self.page.feed_bytes(b"".join(frames))


STEP = st.tuples(
    st.text(alphabet="ab|", min_size=1, max_size=6).filter(lambda s: s.strip("|")),
    st.integers(0, 3),
    st.sampled_from(["none", "mid-model", "after-commit", "mid-calls", "between-steps"]),
)


@settings(max_examples=400, deadline=None)
@given(
    steps=st.lists(STEP, min_size=1, max_size=4),
    join=st.integers(0, 60),
    lose=st.sets(st.integers(0, 60), max_size=6),
    looks=st.sets(st.integers(0, 60), max_size=6),
    flushed=st.booleans(),
)
@pytest.mark.req("CH-12")
def test_every_reader_ends_with_the_stored_message(
    steps: list[tuple[str, int, str]],
    join: int,
    lose: set[int],
    looks: set[int],
    flushed: bool,
) -> None:
    play = Play()
    reader = Reader(play)
    told = 0

    def tell() -> None:
        """The reader joins at some moment, hears most of what follows, and looks at times."""
        nonlocal told
        while told < len(play.log):
            if told == join:
                reader.sync()
                if not flushed:
                    for entry in play.log[:told]:
                        if entry[0] > reader.cursor.seq:
                            reader.hear(*entry)
            if told >= join and told not in lose:
                reader.hear(*play.log[told])
            if told >= join and told in looks:
                reader.sync()
            told += 1

    for number, (text, calls, crash) in enumerate(steps, start=1):
        calls = max(calls, 1) if number < len(steps) else 0
        if crash == "mid-model":
            play.say(number, "half|of it", calls)
            tell()
            play.takeover()
            tell()
        play.say(number, text, calls)
        tell()
        play.commit(number, text, calls)
        if crash == "after-commit" and calls:
            play.takeover()
        for ordinal in range(calls):
            if play.state.calls[number][ordinal].status == "pending":
                play.answer(number, ordinal, heard=crash != "mid-calls")
            tell()
        if crash in ("mid-calls", "between-steps") and calls:
            play.takeover()
        elif number < len(steps):
            play.emit(events.FinishStep())
        tell()
    play.end()
    tell()
    reader.sync()  # the timer that covers a lost last event

    assert reader.page.errors == []
    assert reader.page.shown() == play.stored
    assert reader.page.kinds()[0] == "start"
    assert reader.page.kinds().count("finish") == 1
    numbered = [id_ for id_ in reader.page.ids if id_]
    assert numbered == sorted(set(numbered))


def test_no_finished_step_is_withdrawn_between_two_steps() -> None:
    play = Play()
    reader = Reader(play)
    reader.sync()
    play.say(1, "one", 1)
    play.commit(1, "one", 1)
    play.answer(1, 0)
    play.emit(events.FinishStep())
    play.takeover()
    for entry in play.log:
        reader.hear(*entry)
    assert "reset-step" not in reader.page.kinds()
    assert reader.page.kinds().count("finish-step") == 1


def test_half_a_step_is_withdrawn_once_from_a_reader_that_saw_it() -> None:
    play = Play()
    saw, late = Reader(play), Reader(play)
    saw.sync()
    play.say(1, "half|", 0)
    for entry in play.log:
        saw.hear(*entry)
    heard = len(play.log)
    play.takeover()
    late.sync()
    play.say(1, "whole", 0)
    for entry in play.log[heard:]:
        saw.hear(*entry)
        late.hear(*entry)
    assert saw.page.kinds().count("reset-step") == 1
    assert "reset-step" not in late.page.kinds()
    assert saw.page.shown() == late.page.shown()
