"""PostgreSQL goes and comes back, or is frozen, in the middle of turns."""

import random
import time

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.breaking import Break, broken_row
from bench.faults.holds import await_waiting, commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import all_over, any_instant, held_at, queued, writing

SILENT_SECONDS = 12.0  # a lease, and a beat
FROZEN_SECONDS = (3.0, 15.0)  # around what a lease lasts


def at_claim(cluster: Cluster, rng: random.Random, count: int, break_: Break) -> list[Trial]:
    takes = queued(cluster, count)
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
    takes = writing(cluster, rng, count)
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


ROWS = (
    broken_row("pg-claim", "a claim", at_claim),
    broken_row("pg-heartbeat", "a heartbeat", at_heartbeat),
    Row("pg-frozen", "PostgreSQL frozen", "mid turn", frozen),
)
