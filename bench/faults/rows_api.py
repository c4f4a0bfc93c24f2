"""APIs that are killed, and sends that come more than once."""

import random
import time
from uuid import uuid4

from bench.cluster import Cluster, Person, Reader
from bench.faults import checks
from bench.faults.holds import await_waiting
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import (
    Take,
    all_inside,
    all_over,
    any_instant,
    held_at,
    new_trial,
    words_of,
)

AGAIN = 6  # further sends of the same request
AGAIN_SECONDS = 4.0  # from the first one on: before, in and after the answer

_CHAT = """
INSERT INTO ai_chats (id, workspace_id, creator_id, context, alias, title)
SELECT %s, workspace_id, id, 'tenant', %s, 'Trial' FROM users WHERE id = %s
"""
_SENT_AGAIN = """
SELECT t.enqueue_count FROM turns t JOIN ai_chats c ON c.id = t.chat_id WHERE c.alias = %s
"""


def not_enqueued(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The send waits for its chat's row, Redis stops answering, the row is let go: the turn is
    committed, and its message cannot leave before the API is killed."""
    victim = rng.choice(cluster.apis)
    cluster.kill(victim)  # a fresh one has no connection yet on which a message could go out
    cluster.wait_ready(victim)
    valkey = cluster.stores["valkey"]
    people = {new_trial(): person for person in cluster.people(count)}
    for trial, person in people.items():
        cluster.sql(_CHAT, uuid4(), trial, person.user_id)
    with cluster.transaction() as locks:
        locks.execute("SELECT 1 FROM ai_chats WHERE alias = ANY(%s) FOR UPDATE", (list(people),))
        takes = [
            Take(trial, person, cluster.ask(person, words_of(trial, person, "talk"), api=victim))
            for trial, person in people.items()
        ]
        await_waiting(cluster, count, "the rows of their chats")
        valkey.freeze()
        try:
            locks.rollback()
            all_inside(cluster, takes, lambda take: cluster.watch.now(take.trial), "committed")
            any_instant(rng, 0.1)
            moment = cluster.kill(victim)
        finally:
            valkey.thaw()
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment, epoch=1),
            also=_was_lost(cluster, take),
        )
        for take in takes
    ]


def _was_lost(cluster: Cluster, take: Take) -> list[str]:
    """Only the reaper sends a message a second time."""
    rows = cluster.sql(_SENT_AGAIN, take.trial)
    return [] if rows and rows[0][0] >= 2 else ["the message had left: not the moment"]


def mid_answer(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The stream is cut in the middle; the browser goes on at the other API, from the start or
    after the last event that it had."""
    victim = rng.choice(cluster.apis)
    reader = {"api": victim, "after_last": rng.random() < 0.5}
    takes = held_at(cluster, rng, count, reader=reader)
    cluster.stub.release_all()
    any_instant(rng)
    moment = cluster.kill(victim)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=_came_back(take, moment),
            also=[*checks.asked_once(cluster, take, 1), *checks.nothing_withdrawn(take)],
        )
        for take in takes
    ]


def _came_back(take: Take, since: float) -> float | None:
    """Seconds until the person saw something again."""
    later = [at for c in take.reader.connections[1:] for at in c.times if at > since]
    return min(later) - since if later else None


def same_post(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The same request at both APIs, at once and at any later moment."""
    asked: list[tuple[Take, list[Reader]]] = []
    due: list[tuple[float, Take, str]] = []
    for person in cluster.people(count):
        trial, message = new_trial(), f"message-{uuid4()}"
        take = Take(trial, person, _send(cluster, rng, person, trial, message))
        asked.append((take, [_send(cluster, rng, person, trial, message)]))
        due += [(rng.uniform(0, AGAIN_SECONDS), take, message) for _ in range(AGAIN - 1)]
    begun, readers = time.monotonic(), {take.trial: others for take, others in asked}
    for at, take, message in sorted(due, key=lambda one: one[0]):
        time.sleep(max(0.0, begun + at - time.monotonic()))
        readers[take.trial].append(_send(cluster, rng, take.person, take.trial, message))
    all_over(cluster, [Take(t.trial, t.person, r) for t, rs in asked for r in (t.reader, *rs)])
    return [judge(cluster, take, writes=1, also=_same_turn(take, others)) for take, others in asked]


def _send(cluster: Cluster, rng: random.Random, person: Person, trial: str, message: str) -> Reader:
    text = words_of(trial, person, "write-then-talk", words=50)
    return cluster.ask(person, text, api=rng.choice(cluster.apis), message_id=message)


def _same_turn(take: Take, others: list[Reader]) -> list[str]:
    """Every send was answered by the one turn, whole."""
    faults = [f"another send: {fault}" for other in others for fault in other.faults]
    if any(other.turn_id != take.reader.turn_id for other in others):
        faults.append("another send got another turn")
    return faults


ROWS = (
    Row("api-killed", "kill -9 API", "row committed, not yet enqueued", not_enqueued, hard=True),
    Row("api-mid-answer", "kill -9 API", "mid answer", mid_answer, within=5.0),
    Row("same-post", "the same POST again", "any", same_post, at_once=10),
)
