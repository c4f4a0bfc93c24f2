"""Workers whose clocks are wrong."""

import random

from bench.cluster import Cluster
from bench.cluster.members import Wrap
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, begin

AHEAD, BEHIND = "chat-ahead", "chat-behind"
SKEW_SECONDS = 600
ANSWER = {"words": 100, "pause": 0.15}  # longer than a lease, so that it must be renewed


def by_clock(seconds: int) -> Wrap:
    """The same process with a clock that is so far ahead."""

    def wrap(argv: list[str]) -> list[str]:
        python, _, *module = argv
        return [python, "-m", "bench.faults.skewed", str(seconds), *module]

    return wrap


def skewed(cluster: Cluster, _: random.Random, count: int) -> list[Trial]:
    """Half of the turns on a worker ten minutes ahead, half on one ten minutes behind, while
    others whose clocks are right look for turns to take over."""
    cluster.add(AHEAD, "worker-chat", wrap=by_clock(SKEW_SECONDS))
    cluster.add(BEHIND, "worker-chat", wrap=by_clock(-SKEW_SECONDS))
    try:
        cluster.wait_ready(AHEAD, BEHIND)
        takes: list[Take] = []
        for name, share in ((AHEAD, count // 2), (BEHIND, count - count // 2)):
            cluster.only(name)
            new = begin(cluster, share, "write-then-talk", **ANSWER)
            all_inside(cluster, new, lambda take: cluster.holder(take.trial), f"held by {name}")
            takes += new
        cluster.only(*cluster.workers)
        all_over(cluster, takes)
        return [judge(cluster, take, writes=1, also=_one_attempt(cluster, take)) for take in takes]
    finally:
        cluster.remove(AHEAD)
        cluster.remove(BEHIND)


def _one_attempt(cluster: Cluster, take: Take) -> list[str]:
    """Nobody else took it, at any time."""
    epochs = {sight.epoch for sight in cluster.watch.sights(take.trial)}
    return [] if epochs <= {0, 1} else [f"taken over: epochs {sorted(epochs)}"]


ROWS = (Row("skewed", "clock skew ±10 min on a worker", "mid turn", skewed, at_once=20),)
