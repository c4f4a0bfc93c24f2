"""Stopping an answer, wherever it is."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

from bench.cluster import Cluster, Sight
from bench.faults import checks
from bench.faults.holds import await_waiting, commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.rows_people import SPREAD_SECONDS, all_ended, over_after, together
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin, held_at

WITHIN = 1.0  # seconds from the request until the turn has its one terminal state
TOOL_SECONDS = 3.0  # a tool that takes so long


def stop(cluster: Cluster, takes: list[Take]) -> dict[str, float]:
    return together(cluster, takes, "POST", lambda t: f"/v1/ai/chat/tenant/{t.trial}/stop")


def _stopped(cluster: Cluster, takes: list[Take], moments: dict[str, float]) -> list[Trial]:
    all_ended(cluster, takes)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            ends=("aborted",),
            seconds=over_after(cluster, take, moments[take.trial]),
            also=checks.one_connection(take),
        )
        for take in takes
    ]


def queued(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """No worker has taken it; its message finds the turn at its end."""
    cluster.only()
    takes = begin(cluster, count, "talk")
    all_inside(cluster, takes, lambda t: t.reader.turn_id, "queued")
    any_instant(rng)
    moments = stop(cluster, takes)
    cluster.only(*cluster.workers)
    return _stopped(cluster, takes, moments)


def streaming(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The model talks, or is silent in the middle of its answer."""
    takes = held_at(cluster, rng, count)
    if rng.random() < 0.5:
        cluster.stub.release_all()
    any_instant(rng)
    return _stopped(cluster, takes, stop(cluster, takes))


def reading(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """A tool reads, and takes its time."""
    with cluster.transaction() as locks:
        locks.execute("LOCK TABLE page_embeddings IN ACCESS EXCLUSIVE MODE")
        takes = begin(cluster, count, "read-then-talk")
        all_inside(cluster, takes, lambda take: _asked(cluster, take), "asked for a tool")
        await_waiting(cluster, count, "the chunks")
        any_instant(rng)
        moments = stop(cluster, takes)
        time.sleep(TOOL_SECONDS)
    return _stopped(cluster, takes, moments)


def _asked(cluster: Cluster, take: Take) -> bool:
    return any(play.done for play in cluster.stub.plays_of(take.trial, 1))


def writing(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """A tool is in the commit of its write, which stands; the turn ends right after it."""
    with commits_held(cluster, "turn_tool_calls", "NEW.status = 'ok'") as commits:
        takes = begin(cluster, count, "write-then-talk")
        commits.wait(count)
        any_instant(rng)
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(stop, cluster, takes)
            time.sleep(rng.uniform(0, SPREAD_SECONDS))
            let_go = time.monotonic()
            commits.let_go()  # those who asked before wait for the rows that the writes hold
            moments = asked.result()
    all_ended(cluster, takes)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            ends=("aborted",),
            writes=1,
            seconds=over_after(cluster, take, max(let_go, moments[take.trial])),
            also=checks.one_connection(take),
        )
        for take in takes
    ]


def done(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """At any instant around the end: the turn ends in one way, and stays so."""
    takes = begin(cluster, count, "talk", words=30)
    for take in takes:
        cluster.stub.hold(take.trial, step=1, piece=29)
    all_inside(cluster, takes, lambda t: cluster.stub.reached(t.trial, step=1, piece=29), "29")
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(stop, cluster, takes)
        time.sleep(rng.uniform(0, SPREAD_SECONDS))
        cluster.stub.release_all()
        moments = asked.result()
    all_ended(cluster, takes)
    all_over(cluster, takes)
    first = {take.trial: cluster.watch.now(take.trial) for take in takes}
    stop(cluster, takes)
    time.sleep(0.3)
    return [
        judge(
            cluster,
            take,
            ends=("completed", "aborted"),
            seconds=over_after(cluster, take, moments[take.trial]),
            also=_stays(cluster, take, first[take.trial]),
        )
        for take in takes
    ]


def _stays(cluster: Cluster, take: Take, first: Sight | None) -> list[str]:
    ends = {sight.status for sight in cluster.watch.sights(take.trial) if sight.over}
    same = cluster.watch.now(take.trial) == first and len(ends) == 1
    return [] if same else [f"it ended as {sorted(ends)}"]


ROWS = (
    Row("cancel-queued", "cancel", "queued", queued, within=WITHIN),
    Row("cancel-streaming", "cancel", "in the model's stream", streaming, within=WITHIN),
    Row("cancel-reading", "cancel", "in a tool that reads", reading, within=WITHIN),
    Row("cancel-writing", "cancel", "in a tool's commit", writing, within=WITHIN),
    Row("cancel-done", "cancel", "done", done, within=WITHIN),
)
