"""Redis drops its connections, or loses what it held."""

import random
import time
from collections.abc import Callable

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.consuming import SHORT, silent_workers
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import all_over, any_instant, queued, writing

KILLS = 3  # of all connections, during one turn


def clients_killed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """All connections are reset, several times during each turn."""
    takes = writing(cluster, rng, count)
    for _ in range(KILLS):
        any_instant(rng)
        for kind in rng.sample(["normal", "pubsub"], 2):
            cluster.redis.execute_command("CLIENT", "KILL", "TYPE", kind)
    moment = time.monotonic()
    all_over(cluster, takes)
    silent = silent_workers(cluster, takes)
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.ended(take, moment),
            also=[*checks.undisturbed(cluster, take, steps=2), *silent],
        )
        for take in takes
    ]


def flushed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Everything that Redis held is gone, and then somebody else looks as well."""
    takes = writing(cluster, rng, count)
    any_instant(rng)
    cluster.redis.flushall()
    moment = time.monotonic()
    any_instant(rng)
    late = {take.trial: cluster.follow(take.person, take.trial) for take in takes}
    all_over(cluster, takes)
    for reader in late.values():
        reader.wait()
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.ended(take, moment),
            also=[
                *checks.undisturbed(cluster, take, steps=2),
                *(f"late tab: {fault}" for fault in late[take.trial].faults),
            ],
        )
        for take in takes
    ]


def lost(lose: Callable[[Cluster], object]) -> Callable[..., list[Trial]]:
    """Messages of queued turns go; eight processes see that, and each turn is answered once."""

    def play(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
        takes = queued(cluster, count, words=rng.randint(SHORT, 3 * SHORT))
        any_instant(rng)
        lose(cluster)
        moment = time.monotonic()
        cluster.only(*cluster.workers)
        all_over(cluster, takes)
        return [
            judge(
                cluster,
                take,
                seconds=checks.taken_over(cluster, take, moment, epoch=1),
                also=checks.undisturbed(cluster, take, steps=1),
            )
            for take in takes
        ]

    return play


ROWS = (
    Row("client-kill", "CLIENT KILL", "mid turn", clients_killed),
    Row("flushall", "FLUSHALL", "mid stream", flushed),
    Row("flushall-queued", "FLUSHALL", "queued", lost(lambda c: c.redis.flushall()), at_once=20),
    Row(
        "lost-messages",
        "lost messages",
        "queued",
        lost(lambda c: c.redis.delete("chat")),
        at_once=20,
    ),
)
