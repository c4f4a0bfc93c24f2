"""Two clocks tick, and everything is done once."""

import random
import time
from dataclasses import replace

from bench.cluster import Cluster
from bench.faults import subjects
from bench.faults.messages import Messages
from bench.faults.row import Row, Trial
from bench.faults.subjects import Subject, judge_page, make
from bench.faults.takes import any_instant
from shared.bus.jobs import FollowIndex, PageCreated
from shared.core.tunables import FOLLOW_INDEX_SECONDS, INDEX_PAUSE_SECONDS

TICKS = 4  # of two clocks, that pile up until somebody is there again
PILE_SECONDS = INDEX_PAUSE_SECONDS + (TICKS / 2 + 2) * FOLLOW_INDEX_SECONDS
FOLLOWED_SECONDS = 60.0
_RUNS = """
SELECT count(*) FROM ai_generations
WHERE type = 'embedding' AND object = 'page' AND created_at > %s
"""


def two_clocks(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Nobody indexes, messages of pages are lost, and ticks pile up until two workers come."""
    workers = cluster.names("worker-index")
    pages = subjects.subjects(cluster, count)
    [(begun,)] = cluster.sql("SELECT now()")
    with Messages(cluster, "index", "maintenance") as messages:
        for name in workers:
            cluster.kill(name, hold=True)
        before = messages.count(FollowIndex.name)
        subjects.run(cluster, *(make(cluster, subject) for subject in pages))
        cluster.wait_for(
            lambda: messages.count(PageCreated.name) >= count, 10, "all pages have a message"
        )
        cluster.redis.delete("index")
        rested = time.monotonic() + INDEX_PAUSE_SECONDS
        cluster.wait_for(
            lambda: (
                time.monotonic() > rested and messages.count(FollowIndex.name) >= before + TICKS
            ),
            PILE_SECONDS,
            "ticks pile up, and the pages have rested",
        )
        any_instant(rng)
        for name in workers:
            cluster.let_go(name)
        cluster.wait_ready(*workers)
        moment = time.monotonic()
        followed = subjects.await_settled(cluster, pages, FOLLOWED_SECONDS)
        ticks = messages.count(FollowIndex.name) - before
        sent = {subject.trial: messages.count(subject.page_id) - 1 for subject in pages}
    [(runs,)] = cluster.sql(_RUNS, begun)
    aside = f"{ticks} ticks, {sum(sent.values())} messages, {runs} runs for {count} pages"
    trials = []
    for subject in pages:
        at = followed.get(subject.trial)
        trial = judge_page(
            cluster,
            subject,
            seconds=None if at is None else at - moment,
            also=_doubled(cluster, subject, sent[subject.trial]),
        )
        doubled = trial.doubled or runs != count
        trials.append(replace(trial, doubled=doubled, aside=aside))
    return trials


def _doubled(cluster: Cluster, subject: Subject, sent: int) -> list[str]:
    asked = len(cluster.stub.embeddings.asked(subject.trial))
    return [
        *([] if sent == 1 else [f"enqueued {sent} times"]),
        *([] if asked == 1 else [f"embedded {asked} times"]),
    ]


ROWS = (
    Row(
        "two-clocks",
        "two schedulers",
        "any",
        two_clocks,
        at_once=20,
        cluster=subjects.CLUSTER,
    ),
)
