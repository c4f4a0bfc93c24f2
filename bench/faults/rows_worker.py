"""Workers that are killed, frozen and told to stop."""

import random

from bench.cluster import Cluster
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import (
    Take,
    all_inside,
    all_over,
    any_instant,
    at,
    begin,
    kill_holders,
)


def taken_over(cluster: Cluster, take: Take, since: float, epoch: int = 2) -> float | None:
    """Seconds from the fault until another attempt had claimed the turn."""
    claimed = cluster.watch.first(take.trial, epoch=epoch)
    return None if claimed is None else claimed - since


def one_connection(take: Take) -> list[str]:
    """The browser that was attached stayed so: nobody had to reload."""
    count = len(take.reader.connections)
    return [] if count == 1 else [f"{count} connections"]


def mid_answer(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    pieces: dict[str, int] = {}

    def hold(trial: str) -> None:
        pieces[trial] = rng.randint(1, 60)
        cluster.stub.hold(trial, step=1, piece=pieces[trial])

    takes = begin(cluster, count, "talk", hold=hold, words=100)
    all_inside(
        cluster,
        takes,
        lambda take: at(cluster, step=1, piece=pieces[take.trial])(take),
        "mid answer",
    )
    cluster.stub.release_all()
    any_instant(rng)
    moments = kill_holders(cluster, takes)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=taken_over(cluster, take, moments[take.trial]),
            also=one_connection(take),
        )
        for take in takes
    ]


ROWS = (
    Row(
        "worker-mid-answer",
        "kill -9 worker",
        "mid answer",
        mid_answer,
        hard=True,
    ),
)
