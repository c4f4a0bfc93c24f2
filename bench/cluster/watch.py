"""What became of each turn, and when: the database is looked at 20 times a second."""

import contextlib
import threading
import time
from dataclasses import dataclass

import psycopg

from bench.cluster.database import Sql

LOOK_SECONDS = 0.05
TERMINAL = ("completed", "aborted", "error")

_QUERY = """
SELECT c.alias, t.id::text, t.status, t.epoch, t.attempts, coalesce(t.lease_owner, '')
FROM turns t JOIN ai_chats c ON c.id = t.chat_id WHERE c.alias = ANY(%s)
"""


@dataclass(frozen=True)
class Sight:
    """A turn's state, first seen `at` (time.monotonic())."""

    at: float
    turn_id: str
    status: str
    epoch: int
    attempts: int
    owner: str

    @property
    def over(self) -> bool:
        return self.status in TERMINAL


class Watch:
    """Follows the turns of the chats with these aliases (the ids of trials)."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._seen: dict[str, list[Sight]] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._sql.close()

    def follow(self, *trials: str) -> None:
        for trial in trials:
            self._seen.setdefault(trial, [])

    def forget(self, *trials: str) -> None:
        for trial in trials:
            self._seen.pop(trial, None)

    def sights(self, trial: str) -> list[Sight]:
        """Every state in which the trial's turns were seen, in order."""
        return list(self._seen.get(trial, ()))

    def now(self, trial: str) -> Sight | None:
        seen = self.sights(trial)
        return seen[-1] if seen else None

    def first(self, trial: str, *, epoch: int = 0, status: str | None = None) -> float | None:
        """When the turn was first seen at this epoch or a later one, and in this state."""
        for sight in self.sights(trial):
            if sight.epoch >= epoch and status in (None, sight.status):
                return sight.at
        return None

    def over_at(self, trial: str) -> float | None:
        """When the turn was first seen in a terminal state."""
        return next((sight.at for sight in self.sights(trial) if sight.over), None)

    def _run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with contextlib.suppress(psycopg.Error):  # the store may be down: that is the point
                self._look()

    def _look(self) -> None:
        trials = [name for name, seen in list(self._seen.items())]
        if not trials:
            return
        rows = self._sql(_QUERY, trials)
        at = time.monotonic()
        for trial, *state in rows:
            self._note(trial, Sight(at, *state))

    def _note(self, trial: str, sight: Sight) -> None:
        seen = self._seen.get(trial)
        if seen is None:
            return
        before = next((s for s in reversed(seen) if s.turn_id == sight.turn_id), None)
        if before is None or _state(before) != _state(sight):
            seen.append(sight)


def _state(sight: Sight) -> tuple[object, ...]:
    return (sight.status, sight.epoch, sight.attempts, sight.owner)
