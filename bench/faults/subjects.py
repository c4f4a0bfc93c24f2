"""Pages that are being indexed by a provider which the stub plays: one for each trial.

Every passage of a page carries its version's mark many times, so that each chunk tells of
which version it is.
"""

import asyncio
import random
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.cluster import Cluster, Person
from bench.cluster.plays import WORDS
from bench.faults.row import Trial
from bench.faults.takes import new_trial

PARTS = 3  # passages of a page
PART_CHARS = 700  # two of them are too long for one chunk
REQUESTS_SECONDS = 120.0  # for all requests of a round
MODEL = "stub-vectors"
EMBED_SECONDS = 15.0  # for a batch, its tries and pauses together
_MARK = re.compile(r"\bx[0-9a-f]{12}v(\d{4})p(\d)\b")

# What rows of pages need: two index workers, two clocks, and a provider that is given up sooner
# than after two minutes.
CLUSTER = {"indexes": 2, "beats": 2, "env": {"PAGETURN_EMBED_SECONDS": f"{EMBED_SECONDS:g}"}}

_CHUNKS = "SELECT chunk_index, content, metadata->>'version' FROM page_embeddings"
_INDEX = """
SELECT p.version, i.wanted_version, i.indexed_version, i.state, i.chunks, p.deleted_at IS NULL
FROM pages p LEFT JOIN page_index i ON i.page_id = p.id WHERE p.id = %s
"""


@dataclass(eq=False)
class Subject:
    """A page of a trial; `saves`: when each version was answered as saved, `trashed`: when it was
    in the trash (time.monotonic())."""

    trial: str
    person: Person
    page_id: str = ""
    saves: dict[int, float] = field(default_factory=dict)
    trashed: float = 0.0

    @property
    def saved(self) -> int:
        """The last version that is known to be saved."""
        return max(self.saves, default=0)

    def markdown(self, version: int) -> str:
        return "\n\n".join(self._part(version, part) for part in range(1, PARTS + 1))

    def _part(self, version: int, part: int) -> str:
        mark, words = f"{self.trial}v{version:04}p{part}", ""
        while len(words) < PART_CHARS:
            words += f"{mark} {random.choice(WORDS)} {random.choice(WORDS)} "
        return words


def marks(text: str) -> set[tuple[int, int]]:
    """The versions and parts of which a text is."""
    return {(int(version), int(part)) for version, part in _MARK.findall(text)}


def use_provider(cluster: Cluster) -> None:
    """The workspace embeds with the stub from now on."""
    with cluster.client(cluster.owner) as client:
        known = client.get("/v1/workspace/ai-settings").raise_for_status().json()
        if known["embeddingModel"] != MODEL:
            wanted = {
                "embeddingDriver": "openai-compatible",
                "embeddingBaseUrl": cluster.stub.url,
                "embeddingModel": MODEL,
                "embeddingApiKey": "not-needed-here",
            }
            client.patch("/v1/workspace/ai-settings", json=wanted).raise_for_status()
    all_indexed(cluster)


def all_indexed(cluster: Cluster, seconds: float = REQUESTS_SECONDS) -> None:
    """Until no living page waits for its vectors: what was before is not in the way."""
    waits = "SELECT 1 FROM page_index i JOIN pages p ON p.id = i.page_id WHERE p.deleted_at IS NULL"
    waits += " AND (i.state <> 'indexed' OR i.model_name NOT LIKE %s) LIMIT 1"
    model = f"%:{MODEL}@%"
    cluster.wait_for(lambda: not cluster.sql(waits, model), seconds, "everything is indexed")


def subjects(cluster: Cluster, count: int) -> list[Subject]:
    """Trials whose pages are not made yet, so that their vectors can be planned."""
    use_provider(cluster)
    return [Subject(new_trial(), person) for person in cluster.people(count)]


def run(cluster: Cluster, *each: Any) -> None:
    """Coroutines, all at once, beside the readers."""

    async def everyone() -> None:
        await asyncio.gather(*each)

    cluster.readers.run(everyone(), REQUESTS_SECONDS)


async def make(cluster: Cluster, subject: Subject) -> None:
    page = {"spaceId": str(subject.person.space_id), "title": f"Trial {subject.trial}"}
    page["markdown"] = subject.markdown(1)
    answer = await request(cluster, subject, "POST", "/v1/pages", json=page)
    subject.page_id = answer.json()["id"]
    subject.saves[1] = time.monotonic()


async def save(cluster: Cluster, subject: Subject) -> None:
    """The next version."""
    change = {"markdown": subject.markdown(subject.saved + 1)}
    path = f"/v1/pages/{subject.page_id}"
    answer = await request(cluster, subject, "PATCH", path, json=change)
    subject.saves[answer.json()["version"]] = time.monotonic()


async def request(
    cluster: Cluster, subject: Subject, method: str, path: str, **more: Any
) -> httpx2.Response:
    """One of the person's requests, at either API. Raises httpx2.HTTPError."""
    url, headers = random.choice(cluster.urls()) + path, subject.person.headers
    answer = await cluster.readers.client.request(method, url, headers=headers, timeout=30, **more)
    return answer.raise_for_status()


def settled(cluster: Cluster, subject: Subject) -> bool:
    """Whether the index says that it follows the page."""
    [(version, wanted, indexed, state, _, lives)] = cluster.sql(_INDEX, subject.page_id)
    return state == "indexed" and version == wanted == indexed if lives else state is not None


def await_settled(cluster: Cluster, pages: Iterable[Subject], seconds: float) -> dict[str, float]:
    """When each page was seen to be followed by its index; what is not by then is left out."""
    at: dict[str, float] = {}
    left = list(pages)
    deadline = time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        for subject in [subject for subject in left if settled(cluster, subject)]:
            left.remove(subject)
            at[subject.trial] = time.monotonic()
        time.sleep(0.05)
    return at


def judge_page(
    cluster: Cluster,
    subject: Subject,
    *,
    seconds: float | None = None,
    also: Iterable[str] = (),
) -> Trial:
    """A page whose chunks are those of its last version, all of them and each once."""
    lost, doubled = [], []
    [(version, wanted, indexed, state, told, _)] = cluster.sql(_INDEX, subject.page_id)
    if (state, wanted, indexed) != ("indexed", version, version):
        lost.append(f"version {version} is {state}, indexed is {indexed}")
    rows = cluster.sql(f"{_CHUNKS} WHERE page_id = %s", subject.page_id)
    if len({row[0] for row in rows}) != len(rows) or len(rows) > told:
        doubled.append(f"{len(rows)} chunks, told are {told}")
    found = set().union(*(marks(content) for _, content, _ in rows))
    if found != {(version, part) for part in range(1, PARTS + 1)}:
        lost.append(f"of version {version} there are {sorted(found)}")
    if {row[2] for row in rows} - {str(version)}:
        lost.append("a chunk says that it is of another version")
    cluster.stub.forget(subject.trial)
    note = "; ".join([*lost, *doubled, *also])
    return Trial(bool(lost), bool(doubled), seconds, note)
