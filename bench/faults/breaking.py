"""The ways in which PostgreSQL goes and comes back, and rows that go each of them."""

import itertools
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg

from bench.cluster import Cluster
from bench.faults.row import Row, Trial

DOWN_SECONDS = 3.0  # at most, where somebody has to start it again
CRASH_SECONDS = 10.0  # until all connections are gone after one process was killed
ROUND = 7  # turns: three rounds, one for each way
_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pageturn'"

Break = Callable[[Cluster, random.Random], float]  # gives when it answers again
Play = Callable[[Cluster, random.Random, int, Break], list[Trial]]


def crashed(cluster: Cluster, rng: random.Random) -> float:
    """One of its processes is killed: the server ends all connections and recovers."""
    with cluster.connect() as witness:
        os.kill(rng.choice(cluster.sql(_BACKENDS))[0], signal.SIGKILL)
        cluster.wait_for(lambda: _ended(witness), CRASH_SECONDS, "the server has crashed")
    cluster.stores["postgres"].await_answer()
    return time.monotonic()


def _ended(witness: Any) -> bool:
    try:
        witness.execute("SELECT 1")
    except psycopg.Error:
        return True
    return False


def killed(cluster: Cluster, rng: random.Random) -> float:
    cluster.kill_store("postgres")
    time.sleep(rng.uniform(0, DOWN_SECONDS))
    cluster.start_store("postgres")
    return time.monotonic()


def restarted(cluster: Cluster, rng: random.Random) -> float:
    """As an administrator does it: connections are ended, nothing has to be recovered."""
    cluster.stop_store("postgres")
    time.sleep(rng.uniform(0, DOWN_SECONDS))
    cluster.start_store("postgres")
    return time.monotonic()


def broken_row(key: str, moment: str, play: Play, **more: Any) -> Row:
    """A row whose rounds go each another way."""
    ways = itertools.cycle((crashed, killed, restarted))

    def going(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
        way = next(ways)
        trials = play(cluster, rng, count, way)
        return [replace(t, note=t.note and f"{way.__name__}: {t.note}") for t in trials]

    return Row(key, "PostgreSQL restarted", moment, going, at_once=ROUND, **more)
