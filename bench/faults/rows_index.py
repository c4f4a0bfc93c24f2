"""Pages that change, or go, while they are being embedded."""

import asyncio
import random
import time

from bench.cluster import Cluster
from bench.faults import subjects
from bench.faults.chunk_watch import ChunkWatch
from bench.faults.row import Row, Trial
from bench.faults.subjects import Subject, judge_page, make, marks, request, save
from shared.core.tunables import INDEX_CONCURRENCY, INDEX_PAUSE_SECONDS

EDITS = 50
SLOW_SECONDS = (0.1, 1.0)  # until the provider has answered
EDIT_PAUSE_SECONDS = 0.15  # at most, between a person's saves
LOOK_PAUSE_SECONDS = 0.5  # between two searches
FOLLOWED_SECONDS = 40.0  # until the index has followed, or has not
GONE_SECONDS = 3.0  # in which chunks of a page in the trash might come back
AT_ONCE = 2 * INDEX_CONCURRENCY  # pages that two workers embed at the same time
_CHUNKS = "SELECT 1 FROM page_embeddings WHERE page_id = %s"


def many_edits(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Fifty saves of each page, and its person searches all the while."""
    pages = _slow_pages(cluster, rng, count)
    found: dict[str, list[str]] = {subject.trial: [] for subject in pages}
    with ChunkWatch(cluster, pages) as watch:
        subjects.run(
            cluster,
            *(_edit(cluster, rng, subject) for subject in pages),
            *(_search(cluster, subject, found[subject.trial]) for subject in pages),
        )
        followed = subjects.await_settled(cluster, pages, FOLLOWED_SECONDS)
    return [
        judge_page(
            cluster,
            subject,
            seconds=_since(followed.get(subject.trial), subject.saves[subject.saved]),
            also=[
                *found[subject.trial],
                *dict.fromkeys(watch.faults[subject.page_id]),
                *_hit(cluster, subject),
            ],
        )
        for subject in pages
    ]


def _slow_pages(cluster: Cluster, rng: random.Random, count: int) -> list[Subject]:
    pages = subjects.subjects(cluster, count)
    for subject in pages:
        cluster.stub.embeddings.plan(subject.trial, pause=lambda: rng.uniform(*SLOW_SECONDS))
    subjects.run(cluster, *(make(cluster, subject) for subject in pages))
    return pages


async def _edit(cluster: Cluster, rng: random.Random, subject: Subject) -> None:
    while subject.saved <= EDITS:
        await asyncio.sleep(rng.uniform(0, EDIT_PAUSE_SECONDS))
        await save(cluster, subject)


async def _search(cluster: Cluster, subject: Subject, faults: list[str]) -> None:
    """No passage is shown that is older than the page was when the search was asked for."""
    looks = 0
    while subject.saved <= EDITS:
        saved = subject.saved
        answer = await request(cluster, subject, "GET", "/v1/search", params={"q": subject.trial})
        shown = [
            version
            for item in answer.json()["items"]
            if item["pageId"] == subject.page_id
            for version, _ in marks(item["snippet"])
        ]
        looks += bool(shown)
        if shown and min(shown) < saved:
            faults.append("a search showed an older passage")
        await asyncio.sleep(LOOK_PAUSE_SECONDS)
    if not looks:
        faults.append("no search showed the page")


def _hit(cluster: Cluster, subject: Subject) -> list[str]:
    """Whether the page was saved while vectors of an earlier version were on their way."""
    outdated = 0
    for asked in cluster.stub.embeddings.asked(subject.trial):
        version = max(version for version, _ in marks(asked.texts[0]))
        later = [at for saved, at in subject.saves.items() if saved > version]
        outdated += any(asked.arrived < at < (asked.over or at) for at in later)
    return [] if outdated else ["no save came while the page was being embedded"]


def _since(moment: float | None, since: float) -> float | None:
    return None if moment is None else max(0.0, moment - since)


def trashed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Half of the pages have chunks already and were changed, half are new."""
    pages = subjects.subjects(cluster, count)
    old, new = pages[: count // 2], pages[count // 2 :]
    subjects.run(cluster, *(make(cluster, subject) for subject in old))
    subjects.await_settled(cluster, old, FOLLOWED_SECONDS)
    before = {subject.trial: len(cluster.stub.embeddings.asked(subject.trial)) for subject in pages}
    for subject in pages:
        cluster.stub.embeddings.plan(subject.trial, held=True)
    subjects.run(
        cluster,
        *(save(cluster, subject) for subject in old),
        *(make(cluster, subject) for subject in new),
    )
    for subject in pages:
        cluster.wait_for(
            lambda s=subject: len(cluster.stub.embeddings.asked(s.trial)) > before[s.trial],
            FOLLOWED_SECONDS,
            "all pages are being embedded",
        )
    found: dict[str, list[str]] = {subject.trial: [] for subject in pages}
    subjects.run(
        cluster, *(_trash(cluster, rng, subject, found[subject.trial]) for subject in pages)
    )
    empty = _await_empty(cluster, pages)
    time.sleep(GONE_SECONDS)
    subjects.run(cluster, *(_look_for(cluster, s, found[s.trial]) for s in pages))
    return [_judge_gone(cluster, subject, empty, found[subject.trial]) for subject in pages]


async def _trash(cluster: Cluster, rng: random.Random, subject: Subject, faults: list[str]) -> None:
    await asyncio.sleep(rng.uniform(0, 0.5))
    await request(cluster, subject, "DELETE", f"/v1/pages/{subject.page_id}")
    subject.trashed = time.monotonic()
    await _look_for(cluster, subject, faults)
    await asyncio.sleep(rng.uniform(0, 0.5))
    cluster.stub.embeddings.release(subject.trial)
    await _look_for(cluster, subject, faults)


async def _look_for(cluster: Cluster, subject: Subject, faults: list[str]) -> None:
    answer = await request(cluster, subject, "GET", "/v1/search", params={"q": subject.trial})
    if any(item["pageId"] == subject.page_id for item in answer.json()["items"]):
        faults.append("a search found it")


def _await_empty(cluster: Cluster, pages: list[Subject]) -> dict[str, float]:
    """When each page was seen without a chunk, all that was asked for it being answered."""
    at: dict[str, float] = {}
    deadline = time.monotonic() + FOLLOWED_SECONDS
    while len(at) < len(pages) and time.monotonic() < deadline:
        for subject in pages:
            asked = cluster.stub.embeddings.asked(subject.trial)
            over = subject.trial not in at and all(one.over for one in asked)
            if over and not cluster.sql(_CHUNKS, subject.page_id):
                at[subject.trial] = time.monotonic()
        time.sleep(0.05)
    return at


def _judge_gone(
    cluster: Cluster, subject: Subject, empty: dict[str, float], faults: list[str]
) -> Trial:
    chunks = len(cluster.sql(_CHUNKS, subject.page_id))
    [(told,)] = cluster.sql("SELECT chunks FROM page_index WHERE page_id = %s", subject.page_id)
    if chunks or told:
        faults.append(f"{chunks} chunks are left, told are {told}")
    cluster.stub.forget(subject.trial)
    seconds = _since(empty.get(subject.trial), subject.trashed)
    return Trial(lost=bool(chunks), seconds=seconds, note="; ".join(dict.fromkeys(faults)))


ROWS = (
    Row(
        "edits",
        f"{EDITS} edits to a page",
        "during embedding",
        many_edits,
        within=INDEX_PAUSE_SECONDS,  # without its message it would be looked for after that
        cluster=subjects.CLUSTER,
    ),
    Row(
        "trashed",
        "page put into the trash",
        "during embedding",
        trashed,
        at_once=AT_ONCE,
        cluster=subjects.CLUSTER,
    ),
)
