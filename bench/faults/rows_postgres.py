"""PostgreSQL crashes, is killed, or is started anew, while commits are on their way."""

import itertools
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.holds import await_waiting, commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin, held_at
from bench.faults.uncertain import commits_unanswered

DOWN_SECONDS = 3.0  # at most, where somebody has to start it again
SILENT_SECONDS = 12.0  # a lease, and a beat
CRASH_SECONDS = 10.0  # until all connections are gone after one process was killed
FROZEN_SECONDS = (3.0, 15.0)  # around what a lease lasts
CALL_PIECES = 7  # of an answer that asks for a tool, before its last one
ROUND = 7  # turns: three rounds, one for each way to go
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


def at_claim(cluster: Cluster, rng: random.Random, count: int, break_: Break) -> list[Trial]:
    cluster.only()
    takes = begin(cluster, count, "talk")
    all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "queued")
    cluster.wait_for(lambda: cluster.redis.llen("chat") >= count, 10, "all messages wait")
    with cluster.transaction() as locks:
        locks.execute("SELECT 1 FROM turns WHERE status = 'queued' FOR UPDATE")
        cluster.only(*cluster.workers)
        await_waiting(cluster, count, "the rows of their turns")
        any_instant(rng)
        up = break_(cluster, rng)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, up, epoch=1),
            also=[*checks.one_connection(take), *checks.asked_once(cluster, take, 1)],
        )
        for take in takes
    ]


def at_heartbeat(cluster: Cluster, rng: random.Random, count: int, break_: Break) -> list[Trial]:
    """The workers' beats, one for all turns of a worker, are in their commit. Half of the
    models go on talking; the others are silent for longer than a lease lasts without a beat."""
    renewed = "NEW.epoch = OLD.epoch AND NEW.lease_until > OLD.lease_until"
    takes = held_at(cluster, rng, count)
    holders = {cluster.holder(take.trial) for take in takes}
    silent = takes[::2]
    with commits_held(cluster, "turns", renewed) as commits:
        commits.wait(len(holders))
        for take in takes[1::2]:
            cluster.stub.release(take.trial)
        any_instant(rng)
        up = break_(cluster, rng)
    time.sleep(SILENT_SECONDS)
    speaks = time.monotonic()
    cluster.stub.release_all()
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.ended(take, speaks if take in silent else up),
            also=[*checks.one_connection(take), *checks.attempts(cluster, take, [1, 2])],
        )
        for take in takes
    ]


def frozen(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Its connections stay open, nothing is answered, and leases run out in the meantime."""
    half = count // 2
    takes = held_at(cluster, rng, half, "write-then-talk", step=1, latest=CALL_PIECES)
    takes += held_at(cluster, rng, count - half, "write-then-talk", step=2)
    cluster.stub.release_all()
    any_instant(rng)
    cluster.stores["postgres"].freeze()
    time.sleep(rng.uniform(*FROZEN_SECONDS))
    cluster.stores["postgres"].thaw()
    thawed = time.monotonic()
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.ended(take, thawed),
            also=checks.one_connection(take),
        )
        for take in takes
    ]


@dataclass(frozen=True)
class Commit:
    """A commit of a turn's: the rows that it writes, and when it wrote them."""

    table: str
    when: str
    at: str
    event: str = "UPDATE"


WRITE = Commit("turn_tool_calls", "NEW.status = 'ok'", "c.finished_at")
END = Commit("turns", "NEW.status NOT IN ('queued', 'running')", "t.finished_at")
SEND = Commit("turns", "true", "t.created_at", "INSERT")

_WRITTEN = """
SELECT {at} < %s FROM turns t JOIN ai_chats h ON h.id = t.chat_id
LEFT JOIN turn_tool_calls c ON c.turn_id = t.id WHERE h.alias = %s
"""


def at_commit(commit: Commit, plan: str, *, done: bool) -> Play:
    """`done`: it is durable, and its client never hears of it; else it does not come about."""
    held = commits_unanswered if done else commits_held
    writes = plan.count("write")

    def play(cluster: Cluster, rng: random.Random, count: int, break_: Break) -> list[Trial]:
        with held(cluster, commit.table, commit.when, event=commit.event) as commits:
            takes = begin(cluster, count, plan)
            commits.wait(count)
            any_instant(rng)
            [(before,)] = cluster.sql("SELECT clock_timestamp()")
            if done:
                commits.last()
            up = break_(cluster, rng)
        all_over(cluster, takes)
        return [
            judge(
                cluster,
                take,
                writes=writes,
                seconds=checks.ended(take, up),
                also=[
                    *_stood(cluster, take, commit, before, {done, done or break_ is restarted}),
                    *checks.asked_once(cluster, take, 1),
                    *([] if commit is SEND else checks.one_connection(take)),
                ],
            )
            for take in takes
        ]

    return play


def _stood(
    cluster: Cluster, take: Take, commit: Commit, before: Any, either: set[bool]
) -> list[str]:
    """Whether what stands in the end was written before the fault. A server that is told to
    stop may let go the commits that we hold before it ends them."""
    [(stood,)] = cluster.sql(_WRITTEN.format(at=commit.at), before, take.trial)
    return [] if stood in either else ["the fault did not come in the moment"]


def _row(key: str, moment: str, play: Play, **more: Any) -> Row:
    """A row whose rounds go each another way."""
    ways = itertools.cycle((crashed, killed, restarted))

    def going(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
        way = next(ways)
        trials = play(cluster, rng, count, way)
        return [replace(t, note=t.note and f"{way.__name__}: {t.note}") for t in trials]

    return Row(key, "PostgreSQL restarted", moment, going, at_once=ROUND, **more)


ROWS = (
    _row("pg-claim", "a claim", at_claim),
    _row("pg-heartbeat", "a heartbeat", at_heartbeat),
    Row("pg-frozen", "PostgreSQL frozen", "mid turn", frozen),
    _row("pg-commit", "a write's commit, undone", at_commit(WRITE, "write-then-talk", done=False)),
    _row(
        "pg-uncertain",
        "a write's commit, done and not answered",
        at_commit(WRITE, "write-then-talk", done=True),
        hard=True,
    ),
    _row(
        "pg-uncertain-end",
        "the end's commit, done and not answered",
        at_commit(END, "talk", done=True),
    ),
    _row(
        "pg-uncertain-send",
        "a send's commit, done and not answered",
        at_commit(SEND, "talk", done=True),
    ),
)
