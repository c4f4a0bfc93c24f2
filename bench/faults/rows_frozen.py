"""Workers that stand still for longer than their leases last, and wake up again."""

import random
import signal
import time
from collections.abc import Sequence

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.edited import edits, page_of
from bench.faults.holds import await_waiting, commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import (
    LONG,
    Take,
    all_inside,
    all_over,
    any_instant,
    begin,
    held_at,
)

TAKEN_SECONDS = 30.0  # until all frozen turns have gone to another worker
IDLE_SECONDS = 60.0  # the same, where PostgreSQL must first end an idle transaction (30 s)


def mid_answer(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """It wakes up with its own answer to the end at hand, while another worker is in the middle
    of another one."""
    victim = rng.choice(cluster.workers)
    takes = held_at(cluster, rng, count, on=victim)
    for take in takes:
        cluster.stub.hold(take.trial, step=1, piece=LONG - 10, again=True)
    any_instant(rng)
    moment = cluster.signal(victim, signal.SIGSTOP)
    _all_taken(cluster, takes, TAKEN_SECONDS)

    def answered(take: Take) -> bool:
        plays = cluster.stub.plays_of(take.trial, 1)
        return len(plays) > 1 and plays[-1].piece > 0

    all_inside(cluster, takes, answered, "answered by another worker")
    any_instant(rng)
    cluster.signal(victim, signal.SIGCONT)
    any_instant(rng, 2.0)
    cluster.stub.release_all()
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment),
            also=[
                *checks.one_connection(take),
                *checks.words_of_last(cluster, take, 1),
                *checks.attempts(cluster, take, [2]),
            ],
        )
        for take in takes
    ]


def _all_taken(cluster: Cluster, takes: Sequence[Take], seconds: float) -> None:
    def taken(take: Take) -> bool:
        return cluster.watch.first(take.trial, epoch=2) is not None

    all_inside(cluster, takes, taken, "taken over", seconds)


def in_commit(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """It stands still in the commit of a write, which is done without its knowing."""
    victim = rng.choice(cluster.workers)
    cluster.only(victim)
    with commits_held(cluster, "turn_tool_calls", "NEW.status = 'ok'") as commits:
        takes = begin(cluster, count, "write-then-talk", words=80)
        commits.wait(count)
        cluster.only(*cluster.workers)
        any_instant(rng)
        moment = cluster.signal(victim, signal.SIGSTOP)
        commits.let_go()
        _all_taken(cluster, takes, TAKEN_SECONDS)
        any_instant(rng)
        cluster.signal(victim, signal.SIGCONT)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.taken_over(cluster, take, moment),
            also=[*checks.asked_once(cluster, take, 1), *checks.attempts(cluster, take, [2])],
        )
        for take in takes
    ]


def in_transaction(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """It stands still inside a write's transaction, whose locks nobody can take from it before
    PostgreSQL ends what is idle for too long. Two workers, for each has 16 connections."""
    victims = list(cluster.workers)
    cluster.add("chat-spare", "worker-chat")
    try:
        cluster.wait_ready("chat-spare")
        return _frozen_in_transaction(cluster, rng, count, victims)
    finally:
        for name in victims:
            cluster.signal(name, signal.SIGCONT)
        cluster.remove("chat-spare")


def _frozen_in_transaction(
    cluster: Cluster, rng: random.Random, count: int, victims: list[str]
) -> list[Trial]:
    people = cluster.people(count)
    pages = [page_of(cluster, person) for person in people]
    with cluster.transaction() as locks:
        locks.execute("SELECT 1 FROM pages WHERE id::text = ANY(%s) FOR UPDATE", (pages,))
        takes = []
        for number, victim in enumerate(victims):
            cluster.only(victim)
            share = slice(number, None, len(victims))
            for person, page in zip(people[share], pages[share], strict=True):
                takes += begin(cluster, 1, "edit-then-talk", people=[person], page=page)
            await_waiting(cluster, len(takes), "their pages")
        cluster.only("chat-spare")
        any_instant(rng)
        moment = time.monotonic()
        for name in victims:
            cluster.signal(name, signal.SIGSTOP)
    _all_taken(cluster, takes, IDLE_SECONDS)
    any_instant(rng)
    for name in victims:
        cluster.signal(name, signal.SIGCONT)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment),
            also=[*edits(cluster, take, 1), *checks.asked_once(cluster, take, 1)],
        )
        for take in takes
    ]


def last_attempt(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """It wakes up in its third attempt while the turn is being ended for want of a fourth: what
    it says then is either kept or not shown."""
    victim = rng.choice(cluster.workers)
    takes = held_at(cluster, rng, count, on=victim)
    trials = [take.trial for take in takes]
    cluster.sql(_THIRD, trials)
    for take in takes:
        cluster.stub.hold(take.trial, step=1, piece=LONG - 10)
    with commits_held(cluster, "turns", "NEW.status = 'error'") as commits:
        cluster.signal(victim, signal.SIGSTOP)
        commits.wait(1)
        any_instant(rng)
        cluster.signal(victim, signal.SIGCONT)
        any_instant(rng, 0.2)
        moment = time.monotonic()
        commits.let_go()
    cluster.stub.release_all()
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            ends=("error", "completed"),
            seconds=checks.ended(take, moment),
            also=checks.attempts(cluster, take, [3]),
        )
        for take in takes
    ]


_THIRD = """
UPDATE turns SET attempts = 3
FROM ai_chats c WHERE c.id = turns.chat_id AND c.alias = ANY(%s)
"""
_FROZEN = "SIGSTOP past the lease, SIGCONT"
ROWS = (
    Row("frozen-mid-answer", _FROZEN, "mid answer", mid_answer, hard=True),
    Row("frozen-in-commit", _FROZEN, "in the commit of a write", in_commit),
    Row(
        "frozen-in-transaction",
        _FROZEN,
        "in a write's transaction",
        in_transaction,
        at_once=20,
        within=50.0,  # 30 of an idle transaction, then as after any other loss
    ),
    Row("frozen-last-attempt", _FROZEN, "in its third attempt, being ended", last_attempt),
)
