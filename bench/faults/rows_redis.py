"""Redis dies, drops its connections, or loses what it held."""

import random
import time
from collections.abc import Callable

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.consuming import SHORT, silent_others, silent_workers
from bench.faults.holds import commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin, held_at

DOWN_SECONDS = (0.3, 6.0)  # beyond four a worker that acknowledges late would die of it
CALL_PIECES = 7  # of an answer that asks for a tool, before its last one
FROZEN_SECONDS = (4.0, 12.0)  # around what a command waits for
KILLS = 3  # of all connections, during one turn


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
    takes = _writing(cluster, rng, count)
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
            also=[*_undisturbed(cluster, take, steps=2), *silent],
        )
        for take in takes
    ]


def frozen(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Its connections stay open, and nothing is answered."""
    takes = _writing(cluster, rng, count)
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
            also=[*_undisturbed(cluster, take, steps=2), *silent],
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


def clients_killed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """All connections are reset, several times during each turn."""
    takes = _writing(cluster, rng, count)
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
            also=[*_undisturbed(cluster, take, steps=2), *silent],
        )
        for take in takes
    ]


def flushed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Everything that Redis held is gone, and then somebody else looks as well."""
    takes = _writing(cluster, rng, count)
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
                *_undisturbed(cluster, take, steps=2),
                *(f"late tab: {fault}" for fault in late[take.trial].faults),
            ],
        )
        for take in takes
    ]


def lost(lose: Callable[[Cluster], object]) -> Callable[..., list[Trial]]:
    """Messages of queued turns go; eight processes see that, and each turn is answered once."""

    def play(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
        cluster.only()
        takes = begin(cluster, count, "talk", words=rng.randint(SHORT, 3 * SHORT))
        all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "queued")
        cluster.wait_for(lambda: cluster.redis.llen("chat") >= count, 10, "all messages wait")
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
                also=_undisturbed(cluster, take, steps=1),
            )
            for take in takes
        ]

    return play


def _outage(cluster: Cluster, rng: random.Random) -> float:
    """Kill Redis and start it again; when it answers (time.monotonic())."""
    cluster.kill_store("valkey")
    time.sleep(rng.uniform(*DOWN_SECONDS))
    cluster.start_store("valkey")
    return time.monotonic()


def _writing(cluster: Cluster, rng: random.Random, count: int) -> list[Take]:
    """Turns that write and then talk, let go on from random pieces before and after the write."""
    before = held_at(
        cluster, rng, count // 2, "write-then-talk", step=1, latest=CALL_PIECES, pause=0.1, words=50
    )
    after = held_at(cluster, rng, count - len(before), "write-then-talk", step=2)
    cluster.stub.release_all()
    return before + after


def _untaken(cluster: Cluster, take: Take) -> list[str]:
    now = cluster.watch.now(take.trial)
    return [] if now is not None and now.status == "queued" else ["its message was taken before"]


def _undisturbed(cluster: Cluster, take: Take, *, steps: int) -> list[str]:
    """One attempt, each step asked for once, and the browser stayed attached."""
    asked = [checks.asked_once(cluster, take, step) for step in range(1, steps + 1)]
    return [
        *checks.one_connection(take),
        *checks.attempts(cluster, take, [1]),
        *(fault for faults in asked for fault in faults),
    ]


ROWS = (
    Row("redis-idle", "Redis killed and restarted", "idle", idle, at_once=7),
    Row("redis-mid-turn", "Redis killed and restarted", "mid turn", mid_turn, hard=True),
    Row("redis-publishing", "Redis killed and restarted", "publishing", publishing, at_once=5),
    Row("redis-frozen", "Redis frozen", "mid turn", frozen),
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
