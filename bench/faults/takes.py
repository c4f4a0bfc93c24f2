"""Turns of a round: begun together, brought to the moment, followed to their end."""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bench.cluster import Cluster, Person, Reader

INSIDE_SECONDS = 40.0  # until all turns of a round are where the fault shall find them
END_SECONDS = 100.0  # until all have ended: three attempts, and a machine that is busy
WITHIN_SECONDS = 0.4  # after all are inside, the fault comes at a random instant of so long
LONG = 150  # words of an answer that is still being given when the fault comes
CALL_PIECES = 7  # of an answer that asks for a tool, before its last one
LATEST = 60  # pieces into it, at most, when all wait for the fault


@dataclass(eq=False)
class Take:
    """One turn of a round, its person and its browser."""

    trial: str
    person: Person
    reader: Reader

    @property
    def text(self) -> str:
        """The words of the stored answer, without those of its earlier steps."""
        parts = self.reader.stored["parts"] if self.reader.stored else []
        last = max((n for n, p in enumerate(parts) if p["type"] == "step-start"), default=0)
        return "".join(part["text"] for part in parts[last:] if part["type"] == "text")


def words_of(trial: str, person: Person, plan: str, **keys: Any) -> str:
    """What the person says, so that the stub does what the plan says."""
    told = {"trial": trial, "plan": plan, "space": person.space_id} | keys
    return " ".join(f"{key}={value}" for key, value in told.items())


def new_trial() -> str:
    return f"x{uuid4().hex[:12]}"


def begin(
    cluster: Cluster,
    count: int,
    plan: str,
    *,
    hold: Callable[[str], None] | None = None,
    people: Sequence[Person] | None = None,
    reader: dict[str, Any] | None = None,
    **keys: Any,
) -> list[Take]:
    """Ask `count` questions, each by a person of its own. `hold` gets each trial's id before it
    is asked; `reader` are options of the reader; `keys` go to the plan."""
    takes = []
    for person in people or cluster.people(count):
        trial = new_trial()
        if hold is not None:
            hold(trial)
        text = words_of(trial, person, plan, **keys)
        takes.append(Take(trial, person, cluster.ask(person, text, **(reader or {}))))
    return takes


def held_at(
    cluster: Cluster,
    rng: random.Random,
    count: int,
    plan: str = "talk",
    *,
    step: int = 1,
    latest: int = LATEST,
    on: str | None = None,
    **keys: Any,
) -> list[Take]:
    """Turns each of whose answers is held at a random piece (from 0 to `latest`) of this step.

    `on`: all are with this worker, and when they are there the others take turns again.
    """
    if on is not None:
        cluster.only(on)
    pieces: dict[str, int] = {}

    def hold(trial: str) -> None:
        pieces[trial] = rng.randint(min(1, latest), latest)
        cluster.stub.hold(trial, step=step, piece=pieces[trial])

    takes = begin(cluster, count, plan, hold=hold, **({"words": LONG} | keys))

    def inside(take: Take) -> bool:
        return cluster.stub.reached(take.trial, step=step, piece=pieces[take.trial])

    all_inside(cluster, takes, inside, f"step {step} of {plan}")
    if on is not None:
        cluster.only(*cluster.workers)
        wrong = {cluster.holder(take.trial) for take in takes} - {on}
        assert not wrong, f"{wrong} hold turns beside {on}"
    return takes


def queued(cluster: Cluster, count: int, **keys: Any) -> list[Take]:
    """Turns whose messages wait; no worker takes them until `cluster.only` lets one."""
    cluster.only()
    takes = begin(cluster, count, "talk", **keys)
    all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "queued")
    cluster.wait_for(lambda: cluster.redis.llen("chat") >= count, 10, "all messages wait")
    return takes


def writing(cluster: Cluster, rng: random.Random, count: int) -> list[Take]:
    """Turns that write a page and then talk; they go on from random pieces, half of them before
    they ask for the write and half after it."""
    plan, slowly = "write-then-talk", {"pause": 0.1, "words": 50}
    before = held_at(cluster, rng, count // 2, plan, step=1, latest=CALL_PIECES, **slowly)
    after = held_at(cluster, rng, count - len(before), plan, step=2)
    cluster.stub.release_all()
    return before + after


def all_inside(
    cluster: Cluster,
    takes: Iterable[Take],
    inside: Callable[[Take], Any],
    what: str,
    seconds: float = INSIDE_SECONDS,
) -> None:
    """Wait until the moment has come for every turn of the round."""
    left = list(takes)

    def there() -> bool:
        left[:] = [take for take in left if not inside(take)]
        return not left

    cluster.wait_for(there, seconds, f"all turns are inside the moment: {what}")


def any_instant(rng: random.Random, within: float = WITHIN_SECONDS) -> None:
    time.sleep(rng.uniform(0, within))


def kill_holders(cluster: Cluster, takes: Iterable[Take]) -> dict[str, float]:
    """SIGKILL every worker that holds one of the turns: trial → the moment."""
    held: dict[str, list[str]] = {}
    for take in takes:
        holder = cluster.holder(take.trial)
        assert holder is not None, f"nobody holds {take.trial}"
        held.setdefault(holder, []).append(take.trial)
    return {
        trial: moment
        for name, trials in held.items()
        for moment in [cluster.kill(name)]
        for trial in trials
    }


def all_over(cluster: Cluster, takes: Iterable[Take], seconds: float = END_SECONDS) -> None:
    """Wait until every reader has seen an end; who has not by then is judged as it is."""
    left = list(takes)

    def over() -> bool:
        left[:] = [take for take in left if not take.reader.over]
        return not left

    try:
        cluster.wait_for(over, seconds, "all readers saw an end")
    except AssertionError:
        return
