"""The vectors that workers ask for: slow, held back or refused, as each trial wants it.

A trial is known by its id, which stands in the page's title. What is asked for a query, which
has no title, is answered at once.
"""

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from bench.cluster.body import Body
from tests.fakes.llm_script import NO_HEAD, Action, Gate, Reply
from tests.fakes.llm_strict import embeddings
from tests.fakes.llm_stub import Recorded

DIMENSIONS = 16
LOOK_SECONDS = 0.02  # between two looks of a held answer whether it may go on
_TRIAL = re.compile(r"\bx[0-9a-f]{12}\b")


@dataclass(frozen=True)
class Asked:
    """A request for a page's vectors, the texts that came with it, and whether it was refused."""

    request: Recorded
    texts: list[str]
    refused: bool

    @property
    def arrived(self) -> float:
        return self.request.arrived

    @property
    def over(self) -> float | None:
        """When it was answered, or its client went away."""
        return self.request.closed_at or self.request.ended


@dataclass
class _Plan:
    refusals: list[Reply] = field(default_factory=list)
    pause: Callable[[], float] = float
    held: bool = False


def hang() -> Reply:
    """No answer, until the client goes away."""
    return Reply(NO_HEAD, [Gate()])


class Embeddings:
    """Called by the stub's thread, told what to do by any."""

    def __init__(self) -> None:
        self._plans: defaultdict[str, _Plan] = defaultdict(_Plan)
        self._asked: defaultdict[str, list[Asked]] = defaultdict(list)
        self._lock = threading.Lock()
        self._away: tuple[float, Callable[[], Reply]] | None = None

    def plan(
        self, trial: str, *refusals: Reply, pause: Callable[[], float] = float, held: bool = False
    ) -> None:
        """Answer a trial's requests with these refusals first, then with vectors: after a
        `pause`, and not before a `release` while they are `held`."""
        self._plans[trial] = _Plan(list(refusals), pause, held)

    def go_away(self, seconds: float, refusal: Callable[[], Reply]) -> None:
        """Refuse everything for a while."""
        self._away = (time.monotonic() + seconds, refusal)

    def release(self, trial: str) -> None:
        self._plans[trial].held = False

    def release_all(self) -> None:
        for plan in list(self._plans.values()):
            plan.held = False

    def asked(self, trial: str) -> list[Asked]:
        """What was ever asked for a trial's page, oldest first."""
        with self._lock:
            return list(self._asked[trial])

    def forget(self, trial: str) -> None:
        with self._lock:
            self._plans.pop(trial, None)
            self._asked.pop(trial, None)

    def answer(self, request: Recorded) -> Reply:
        texts = [str(text) for text in request.body["input"]]
        found = _TRIAL.search(texts[0].partition("\n\n")[0]) if "\n\n" in texts[0] else None
        if found is None:
            return self._refusal(None) or _vectors(request, _Plan())
        plan = self._plans[found.group()]
        refusal = self._refusal(plan)
        with self._lock:
            self._asked[found.group()].append(Asked(request, texts, refusal is not None))
        return refusal or _vectors(request, plan)

    def _refusal(self, plan: _Plan | None) -> Reply | None:
        if self._away is not None and time.monotonic() < self._away[0]:
            return self._away[1]()
        return plan.refusals.pop(0) if plan is not None and plan.refusals else None


def _vectors(request: Recorded, plan: _Plan) -> Reply:
    def actions() -> Iterator[Action]:
        while plan.held:
            yield LOOK_SECONDS
        yield plan.pause()
        yield orjson.dumps(embeddings(request.body, DIMENSIONS))

    return Reply(200, Body(actions), {}, "application/json")
