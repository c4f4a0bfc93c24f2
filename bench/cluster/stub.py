"""The model that all workers ask: an OpenAI-compatible server whose answers can be held."""

import threading
from collections import defaultdict

from bench.cluster.body import Body
from bench.cluster.embeddings import Embeddings
from bench.cluster.plays import Play, understand
from tests.fakes.installation import wait_for
from tests.fakes.llm_script import Reply, says
from tests.fakes.llm_stub import Recorded, StubThread

HELD_SECONDS = 60.0  # a held answer is reached within this time, or something is wrong
REQUESTS_KEPT = 200  # of those that came in: each holds a whole conversation


class Stub(StubThread):
    """See `plays` for how a turn is told what to do, and `embeddings` for vectors."""

    def __init__(self) -> None:
        self.embeddings = Embeddings()
        super().__init__(fallback=self._answer, embedder=self.embeddings.answer)
        self._holds: dict[tuple[str, int], tuple[int, bool]] = {}
        self._plays: defaultdict[str, list[Play]] = defaultdict(list)
        self._lock = threading.Lock()

    def hold(self, trial: str, *, step: int, piece: int, again: bool = False) -> None:
        """Every answer to this step stops before so many pieces (from 0: before the first);
        `again`: all but the first one, which is given to its end."""
        self._holds[trial, step] = (piece, again)

    def release(self, trial: str, step: int | None = None) -> None:
        """Let a trial's answers go on."""
        for known in list(self._holds):
            if known[0] == trial and step in (None, known[1]):
                self._holds.pop(known, None)

    def release_all(self) -> None:
        self._holds.clear()
        self.embeddings.release_all()

    def plays_of(self, trial: str, step: int | None = None) -> list[Play]:
        """What was ever asked for a trial, oldest first."""
        with self._lock:
            return [p for p in self._plays[trial] if step in (None, p.wish.step)]

    def playing(self, trial: str) -> Play | None:
        """The answer that is on its way now."""
        open_ = [play for play in self.plays_of(trial) if not play.done and not play.gone]
        return open_[-1] if open_ else None

    def reached(self, trial: str, *, step: int, piece: int) -> bool:
        """Whether an answer to this step has come so far and is still on its way."""
        play = self.playing(trial)
        return play is not None and play.wish.step == step and play.piece >= piece

    def wait_at(self, trial: str, *, step: int, piece: int, seconds: float = HELD_SECONDS) -> Play:
        """Wait until an answer to this step has come so far."""
        what = f"trial {trial} is in step {step} at piece {piece}"
        wait_for(lambda: self.reached(trial, step=step, piece=piece), seconds, what)
        play = self.playing(trial)
        assert play is not None, f"{what}, and has gone on"
        return play

    def forget(self, trial: str) -> None:
        """Drop what is known of a trial that is over."""
        self.release(trial)
        self.embeddings.forget(trial)
        with self._lock:
            self._plays.pop(trial, None)

    def _answer(self, request: Recorded) -> Reply:
        if len(self.requests) > REQUESTS_KEPT:
            del self.requests[: REQUESTS_KEPT // 2]
        wish = understand(request)
        if wish is None:
            return says("A ", "trial")
        with self._lock:
            again = any(play.wish.step == wish.step for play in self._plays[wish.trial])
            play = Play(wish, again, self._held, request)
            self._plays[wish.trial].append(play)
        return Reply(body=Body(play.actions))

    def _held(self, play: Play) -> bool:
        hold = self._holds.get((play.wish.trial, play.wish.step))
        if hold is None or (hold[1] and not play.again):
            return False
        return play.piece >= hold[0]
