"""Providers of embeddings that are busy, broken, or silent."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench.cluster import Cluster
from bench.cluster.embeddings import hang
from bench.faults import subjects
from bench.faults.row import Row, Trial
from bench.faults.subjects import EMBED_SECONDS, Subject, judge_page, make
from shared.core.settings import Settings
from shared.core.tunables import EMBED_FAILED_SECONDS, EMBED_RETRIES, INDEX_PAUSE_SECONDS
from tests.fakes.llm_script import Reply, error

AWAY_SECONDS = EMBED_SECONDS + 2  # so that whole runs fail
SPAN_SECONDS = 10.0  # of it, in which the pages are saved
RUNS_MOST = 3  # for one page: with the outage, after it, and one for good measure
HANG_UP_SECONDS = 3.0  # beyond a batch's time, on a machine that is busy
EARLY_SECONDS = 0.05  # between two clocks' readings
_RUNS = """
SELECT count(*), count(*) FILTER (WHERE status = 'pending') FROM ai_generations
WHERE type = 'embedding' AND object = 'page' AND created_at > %s
"""

Refuse = Callable[[random.Random], Reply]


def busy(rng: random.Random) -> Reply:
    """Half of them say when to come again."""
    after = {"retry-after": str(rng.randint(1, 2))} if rng.random() < 0.5 else None
    return error(429, "slow down", after)


def broken(rng: random.Random) -> Reply:
    return error(rng.choice([500, 502, 503, 529]), "not now")


def refused(refuse: Refuse) -> Callable[..., list[Trial]]:
    """A page's first requests are refused, at most as often as a run tries again."""

    def play(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
        pages = subjects.subjects(cluster, count)
        planned = {s.trial: [refuse(rng) for _ in range(_some(rng))] for s in pages}
        for subject in pages:
            cluster.stub.embeddings.plan(subject.trial, *planned[subject.trial])
        [(begun,)] = cluster.sql("SELECT now()")
        subjects.run(cluster, *(make(cluster, subject) for subject in pages))
        followed = subjects.await_settled(cluster, pages, 3 * REFUSED_WITHIN)
        runs = _runs(cluster, begun, count)
        return [
            judge_page(
                cluster,
                subject,
                seconds=_since(followed.get(subject.trial), subject.saves[1]),
                also=[*runs, *_backed_off(cluster, subject, planned[subject.trial])],
            )
            for subject in pages
        ]

    return play


def _some(rng: random.Random) -> int:
    return rng.randint(1, EMBED_RETRIES)


def _backed_off(cluster: Cluster, subject: Subject, refusals: Sequence[Reply]) -> list[str]:
    """Each refusal was followed by the pause that it asked for, or by one that doubles."""
    asked = cluster.stub.embeddings.asked(subject.trial)
    if len(asked) != len(refusals) + 1:
        return [f"{len(asked)} requests for {len(refusals)} refusals"]
    first = Settings.model_fields["embed_retry_seconds"].default
    faults = []
    for number, refusal in enumerate(refusals):
        wanted = float(refusal.headers.get("retry-after", first * 2**number))
        paused = asked[number + 1].arrived - (asked[number].over or 0.0)
        if paused < wanted - EARLY_SECONDS:
            faults.append(f"a pause of {paused:.1f} s, where {wanted:.1f} were wanted")
    return faults


def _runs(cluster: Cluster, begun: Any, most: int) -> list[str]:
    """The account: no more runs than so many, and none left open."""
    [(runs, pending)] = cluster.sql(_RUNS, begun)
    return [
        *([f"{runs} runs, {most} allowed"] if runs > most else []),
        *([f"{pending} runs are open in the account"] if pending else []),
    ]


def silent(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """For longer than a run has nobody gets an answer; pages are saved meanwhile."""
    pages = subjects.subjects(cluster, count)
    [(begun,)] = cluster.sql("SELECT now()")
    cluster.stub.embeddings.go_away(AWAY_SECONDS, hang)
    back = time.monotonic() + AWAY_SECONDS

    async def make_some_time(subject: Subject) -> None:
        await asyncio.sleep(rng.uniform(0, SPAN_SECONDS))
        await make(cluster, subject)

    subjects.run(cluster, *(make_some_time(subject) for subject in pages))
    followed = subjects.await_settled(cluster, pages, 2 * SILENT_WITHIN)
    runs = _runs(cluster, begun, RUNS_MOST * count)
    hit = any(cluster.stub.embeddings.asked(subject.trial)[0].refused for subject in pages)
    return [
        judge_page(
            cluster,
            subject,
            seconds=_since(followed.get(subject.trial), back),
            also=[
                *runs,
                *([] if hit else ["nobody was asked while the provider was silent"]),
                *_bounded(cluster, subject),
            ],
        )
        for subject in pages
    ]


def _bounded(cluster: Cluster, subject: Subject) -> list[str]:
    """Few requests, and each was given up in time."""
    asked = cluster.stub.embeddings.asked(subject.trial)
    times = [(one.over or time.monotonic()) - one.arrived for one in asked]
    faults = [f"{len(asked)} requests"] if len(asked) > RUNS_MOST else []
    if max(times, default=0.0) > EMBED_SECONDS + HANG_UP_SECONDS:
        faults.append(f"a request was waited for {max(times):.0f} s")
    return faults


def _since(moment: float | None, since: float) -> float | None:
    return None if moment is None else max(0.0, moment - since)


# The provider's pause, then the page's own one, which has doubled once, and a tick.
SILENT_WITHIN = EMBED_FAILED_SECONDS + 2 * INDEX_PAUSE_SECONDS + EMBED_SECONDS

# Eight of twenty pages at a time, each with three pauses of seven seconds together.
REFUSED_WITHIN = 25.0

ROWS = (
    Row(
        "embeddings-429",
        "embeddings answer 429",
        "a batch",
        refused(busy),
        at_once=20,
        within=REFUSED_WITHIN,
        cluster=subjects.CLUSTER,
    ),
    Row(
        "embeddings-5xx",
        "embeddings answer 5xx",
        "a batch",
        refused(broken),
        at_once=20,
        within=REFUSED_WITHIN,
        cluster=subjects.CLUSTER,
    ),
    Row(
        "embeddings-hang",
        "embeddings hang",
        "a batch",
        silent,
        at_once=20,
        within=SILENT_WITHIN,
        cluster=subjects.CLUSTER,
    ),
)
