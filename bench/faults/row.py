"""What a row of the matrix is."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.cluster import Cluster


@dataclass(frozen=True)
class Trial:
    """What became of one turn (or page, or reader).

    `lost`: something accepted did not come to its one end, or is missing; `doubled`: something
    was done or said twice; `seconds`: from the fault to where the row counts as recovered, None
    where nothing has to recover; `note`: whatever else was not as it must be, empty when all
    was; `aside`: a figure worth telling, good or bad.
    """

    lost: bool = False
    doubled: bool = False
    seconds: float | None = None
    note: str = ""
    aside: str = ""


# Plays one round of so many trials, all at once, each at its own random instant of the moment.
Play = Callable[[Cluster, random.Random, int], list[Trial]]


@dataclass(frozen=True)
class Row:
    """`key` names it at the shell; `at_once`: trials of a round; `within`: the seconds in which
    each trial must have recovered; `hard`: it belongs to the short form; `cluster`: arguments of
    the `Cluster` that it needs (rows with the same ones share one)."""

    key: str
    fault: str
    moment: str
    play: Play
    at_once: int = 10
    within: float = 15.0
    hard: bool = False
    cluster: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """A row that has been played."""

    row: Row
    trials: list[Trial] = field(default_factory=list)
    took: float = 0.0
    load: float = 0.0  # of the machine at the row's end: a busy one is late for its own reasons

    @property
    def lost(self) -> int:
        return sum(trial.lost for trial in self.trials)

    @property
    def doubled(self) -> int:
        return sum(trial.doubled for trial in self.trials)

    @property
    def seconds(self) -> list[float]:
        return sorted(trial.seconds for trial in self.trials if trial.seconds is not None)

    @property
    def notes(self) -> list[str]:
        late = [s for s in self.seconds if s > self.row.within]
        notes = [trial.note for trial in self.trials if trial.note]
        return notes + [f"took {s:.1f} s, allowed are {self.row.within:.1f}" for s in late]

    @property
    def held(self) -> bool:
        return bool(self.trials) and not (self.lost or self.doubled or self.notes)
