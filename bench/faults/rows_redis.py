"""Redis dies, or is frozen."""

import random
import time

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.consuming import SHORT, silent_others, silent_workers
from bench.faults.holds import commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin, writing

DOWN_SECONDS = (0.3, 6.0)  # beyond four a worker that acknowledges late would die of it
FROZEN_SECONDS = (4.0, 12.0)  # around what a command waits for


def idle(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    any_instant(rng, 2.0)
    up = _outage(cluster, rng)
    any_instant(rng)
    takes = begin(cluster, count, "talk", words=SHORT)
    all_over(cluster, takes)
    silent = silent_workers(cluster, takes) + silent_others(cluster)
    return [judge(cluster, take, seconds=checks.ended(take, up), also=silent) for take in takes]


def mid_turn(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Half of the turns are before their write, half after it."""
    takes = writing(cluster, rng, count)
    any_instant(rng)
    up = _outage(cluster, rng)
    all_over(cluster, takes)
    silent = silent_workers(cluster, takes)
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.ended(take, up),
            also=[*checks.undisturbed(cluster, take, steps=2), *silent],
        )
        for take in takes
    ]


def frozen(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Its connections stay open, and nothing is answered."""
    takes = writing(cluster, rng, count)
    any_instant(rng)
    cluster.stores["valkey"].freeze()
    time.sleep(rng.uniform(*FROZEN_SECONDS))
    cluster.stores["valkey"].thaw()
    thawed = time.monotonic()
    all_over(cluster, takes)
    silent = silent_workers(cluster, takes)
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.ended(take, thawed),
            also=[*checks.undisturbed(cluster, take, steps=2), *silent],
        )
        for take in takes
    ]


def publishing(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The turns are committed; their messages find nobody, or somebody who dies over them."""
    valkey = cluster.stores["valkey"]
    with commits_held(cluster, "turns", "true", event="INSERT") as commits:
        takes = begin(cluster, count, "talk")
        commits.wait(count)
        if dies_over_them := rng.random() < 0.5:
            valkey.freeze()
            commits.let_go()
            all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "committed")
            any_instant(rng)
        valkey.kill()
        if not dies_over_them:
            commits.let_go()
            all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "committed")
        time.sleep(rng.uniform(*DOWN_SECONDS))
        untaken = {take.trial: _untaken(cluster, take) for take in takes}
        valkey.start()
        up = time.monotonic()
    all_over(cluster, takes)
    silent = silent_workers(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, up, epoch=1),
            also=[
                *untaken[take.trial],
                *checks.one_connection(take),
                *checks.asked_once(cluster, take, 1),
                *silent,
            ],
        )
        for take in takes
    ]


def _outage(cluster: Cluster, rng: random.Random) -> float:
    """Kill Redis and start it again; when it answers (time.monotonic())."""
    cluster.kill_store("valkey")
    time.sleep(rng.uniform(*DOWN_SECONDS))
    cluster.start_store("valkey")
    return time.monotonic()


def _untaken(cluster: Cluster, take: Take) -> list[str]:
    now = cluster.watch.now(take.trial)
    return [] if now is not None and now.status == "queued" else ["its message was taken before"]


ROWS = (
    Row("redis-idle", "Redis killed and restarted", "idle", idle, at_once=7),
    Row("redis-mid-turn", "Redis killed and restarted", "mid turn", mid_turn, hard=True),
    Row("redis-publishing", "Redis killed and restarted", "publishing", publishing, at_once=5),
    Row("redis-frozen", "Redis frozen", "mid turn", frozen),
)
