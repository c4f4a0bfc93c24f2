"""Workers that live: told to stop, or slow for a reason that is not theirs."""

import random
import signal
import time

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.edited import edits, page_of
from bench.faults.holds import await_waiting
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import all_over, any_instant, begin, held_at


def told_to_stop(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Short answers end within the worker's grace period, long ones go to another worker."""
    victim = rng.choice(cluster.workers)
    short = held_at(cluster, rng, count // 2, on=victim, words=90)
    long = held_at(cluster, rng, count - count // 2, on=victim, words=500)
    cluster.stub.release_all()
    any_instant(rng)
    moment = cluster.signal(victim, signal.SIGTERM)
    all_over(cluster, [*short, *long])
    ends = [
        judge(cluster, take, also=[*checks.asked_once(cluster, take, 1)], seconds=None)
        for take in short
    ]
    return ends + [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment),
            also=[*checks.one_connection(take), *checks.attempts(cluster, take, [1])],
        )
        for take in long
    ]


def slow_write(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Somebody else holds the page for longer than the lease lasts; the worker lives."""
    people = cluster.people(count)
    pages = [page_of(cluster, person) for person in people]
    with cluster.transaction() as locks:
        locks.execute("SELECT 1 FROM pages WHERE id::text = ANY(%s) FOR UPDATE", (pages,))
        takes = []
        for person, page in zip(people, pages, strict=True):
            takes += begin(cluster, 1, "edit-then-talk", people=[person], page=page)
        await_waiting(cluster, count, "their pages")
        time.sleep(cluster.settings.lease_seconds + rng.uniform(1.0, 3.0))
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            also=[*edits(cluster, take, 1), *checks.attempts(cluster, take, [1])],
        )
        for take in takes
    ]


ROWS = (
    Row("told-to-stop", "SIGTERM with grace", "mid turn", told_to_stop, at_once=20, within=10.0),
    Row("slow-write", "a write longer than the lease", "mid turn", slow_write),
)
