"""Workers that are killed."""

import random
import signal

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.holds import await_waiting, commits_held
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import (
    Take,
    all_inside,
    all_over,
    any_instant,
    begin,
    held_at,
    kill_holders,
)

THREE = 3  # attempts, then a turn fails


def before_claim(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The message has been taken from Redis, and the claim waits for the turn's row."""
    victim = rng.choice(cluster.workers)
    cluster.only()
    takes = begin(cluster, count, "talk")
    all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "queued")
    cluster.wait_for(lambda: cluster.redis.llen("chat") >= count, 10, "all messages wait")
    with cluster.transaction() as locks:
        locks.execute("SELECT 1 FROM turns WHERE status = 'queued' FOR UPDATE")
        cluster.only(victim)
        await_waiting(cluster, count, "the rows of their turns")
        cluster.only(*cluster.workers)
        any_instant(rng)
        moment = cluster.kill(victim)
    all_over(cluster, takes)
    return [
        judge(cluster, take, seconds=checks.taken_over(cluster, take, moment, epoch=1))
        for take in takes
    ]


def mid_answer(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    victim = rng.choice(cluster.workers)
    takes = held_at(cluster, rng, count, on=victim)
    cluster.stub.release_all()
    any_instant(rng)
    moment = cluster.kill(victim)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment),
            also=[
                *checks.one_connection(take),
                *checks.cut_short(cluster, take),
                *checks.words_of_last(cluster, take, 1),
            ],
        )
        for take in takes
    ]


def after_tool(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The write and its result are committed, and the worker that asked for it never knows."""
    victim = rng.choice(cluster.workers)
    cluster.only(victim)
    with commits_held(cluster, "turn_tool_calls", "NEW.status = 'ok'") as commits:
        takes = begin(cluster, count, "write-then-talk")
        commits.wait(count)
        cluster.only(*cluster.workers)
        any_instant(rng)
        cluster.signal(victim, signal.SIGSTOP)
        commits.let_go()
        written = "SELECT count(*) FROM turn_tool_calls c JOIN turns t ON t.id = c.turn_id"
        written += " WHERE t.status = 'running' AND c.status = 'ok'"
        cluster.wait_for(lambda: cluster.sql(written)[0][0] >= count, 10, "all have written")
        moment = cluster.kill(victim)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            writes=1,
            seconds=checks.taken_over(cluster, take, moment),
            also=[*checks.asked_once(cluster, take, 1), *checks.nothing_withdrawn(take)],
        )
        for take in takes
    ]


def between_steps(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The first step is whole, and of the second one nothing has been said."""
    victim = rng.choice(cluster.workers)
    takes = held_at(cluster, rng, count, "read-then-talk", step=2, latest=0, on=victim, words=40)
    any_instant(rng)
    moment = cluster.kill(victim)
    cluster.stub.release_all()
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment),
            also=[*checks.asked_once(cluster, take, 1), *checks.nothing_withdrawn(take)],
        )
        for take in takes
    ]


def last_event_unsent(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The turn's end is committed, and the worker dies before it can say so."""
    victim = rng.choice(cluster.workers)
    cluster.only(victim)
    over = "NEW.status NOT IN ('queued', 'running')"
    with commits_held(cluster, "turns", over) as commits:
        takes = begin(cluster, count, "talk", words=rng.randint(20, 60))
        commits.wait(count)
        cluster.only(*cluster.workers)
        any_instant(rng)
        cluster.signal(victim, signal.SIGSTOP)
        commits.let_go()
        all_inside(cluster, takes, lambda take: cluster.watch.over_at(take.trial), "ended")
        moment = cluster.kill(victim)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.ended(take, moment),
            also=[*checks.asked_once(cluster, take, 1), *checks.nothing_withdrawn(take)],
        )
        for take in takes
    ]


def three_times(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Each attempt is killed in the middle of its answer."""
    takes = held_at(cluster, rng, count)
    any_instant(rng)
    moments = kill_holders(cluster, takes)
    for attempt in range(2, THREE + 1):
        killed = dict(moments)
        all_inside(
            cluster,
            takes,
            lambda take, killed=killed: _answers_again(cluster, take, killed[take.trial]),
            f"attempt {attempt}",
        )
        any_instant(rng)
        moments = kill_holders(cluster, takes)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            ends=("error",),
            seconds=checks.ended(take, moments[take.trial]),
            also=[
                *checks.one_connection(take),
                *checks.attempts(cluster, take, [THREE]),
                *_partial_kept(cluster, take),
            ],
        )
        for take in takes
    ]


def _answers_again(cluster: Cluster, take: Take, since: float) -> bool:
    play = cluster.stub.playing(take.trial)
    return play is not None and play.waiting and play.begun > since


def _partial_kept(cluster: Cluster, take) -> list[str]:
    """All that the last attempt had sent when it was killed; its last word may be missing."""
    said = "".join(cluster.stub.plays_of(take.trial)[-1].said)
    if not take.text:
        return ["nothing is kept of what was said"]
    return [] if said.startswith(take.text) else ["other words are kept than were said"]


ROWS = (
    Row("before-claim", "kill -9 worker", "before the claim", before_claim),
    Row("mid-answer", "kill -9 worker", "mid answer", mid_answer, hard=True),
    Row("after-tool", "kill -9 worker", "after a tool's commit", after_tool, hard=True),
    Row(
        "between-steps",
        "kill -9 worker",
        "between two steps",
        between_steps,
        at_once=20,
        hard=True,
    ),
    Row(
        "last-event",
        "kill -9 worker",
        "ended in the database, last event unsent",
        last_event_unsent,
        within=5.0,
        hard=True,
    ),
    Row(
        "three-times",
        "killed three times",
        "the same turn, mid answer",
        three_times,
        at_once=20,
        hard=True,
    ),
)
