"""Retrieval on the Cranfield collection: words, vectors, and both fused.

    PAGETURN_CORPORA=... DATABASE_URL=postgresql://... python -m bench.retrieval

Prints nDCG@10 (linear gain, as trec_eval has it) and recall@100. It works in a workspace of
its own on a migrated database, and removes it at the end. Indexing takes two minutes.
"""

import asyncio
import json
import math
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy import delete

from shared.accounts.actor import Actor
from shared.accounts.models import Role, Space, SpaceMember, SpaceRole, User, Workspace
from shared.core.db import Database, make_engine
from shared.core.ids import new_id
from shared.core.settings import get_settings
from shared.models import metadata
from shared.search.repository import Scope
from shared.search.service import search
from shared.search.vectors import QueryVector, by_vector
from shared.wiki.service import create_page
from workers.indexing.indexer import index_page
from workers.llm.embeddings import Embedder
from workers.llm.local_embeddings import local_embedder

assert metadata.tables

Judgements = Mapping[str, Mapping[str, int]]
Search = Callable[[str], Awaitable[list[UUID]]]


@dataclass(frozen=True)
class Cranfield:
    """Documents as (id, title, text), queries as (id, text), grades by query and document."""

    documents: list[tuple[str, str, str]]
    queries: list[tuple[str, str]]
    judgements: Judgements


def read_cranfield(folder: Path) -> Cranfield:
    documents = [(d["_id"], d["title"], d["text"]) for d in _lines(folder / "corpus.jsonl")]
    queries = [(q["_id"], q["text"]) for q in _lines(folder / "queries.jsonl")]
    judgements: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        judgements.setdefault(query, {})[document] = int(grade)
    return Cranfield(documents, queries, judgements)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


@dataclass(frozen=True)
class Bench:
    actor: Actor
    space_id: UUID


async def make_wiki(database: Database) -> Bench:
    workspace_id, user_id, space_id = new_id(), new_id(), new_id()
    async with database.session() as session:
        session.add(Workspace(id=workspace_id, name="Retrieval bench"))
        await session.flush()
        email = f"bench-{user_id}@example.org"
        session.add(User(id=user_id, workspace_id=workspace_id, email=email, name="Bench"))
        session.add(Space(id=space_id, workspace_id=workspace_id, name="Bench", slug="bench"))
        await session.flush()
        role = SpaceRole.ADMIN.value
        session.add(SpaceMember(space_id=space_id, user_id=user_id, role=role))
    return Bench(Actor(workspace_id, user_id, Role.OWNER), space_id)


async def fill(
    database: Database, wiki: Bench, embedder: Embedder, collection: Cranfield
) -> dict[UUID, str]:
    """Index every document; the documents' ids by page."""
    documents: dict[UUID, str] = {}
    for document_id, title, text in collection.documents:
        async with database.session() as session:
            page = await create_page(
                session,
                wiki.actor,
                space_id=wiki.space_id,
                title=title[:255] or "Untitled",
                content=_document(text),
            )
            session.sync_session.info.pop("jobs", None)  # indexed right here, by no worker
        await index_page(database, embedder, page.id)
        documents[page.id] = document_id
    return documents


def _document(text: str) -> dict[str, object]:
    words = [{"type": "text", "text": text}] if text else []
    return {"type": "doc", "content": [{"type": "paragraph", "content": words}]}


def ndcg(found: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    gained = sum(grades.get(d, 0) / math.log2(n + 2) for n, d in enumerate(found[:depth]))
    best = sorted(grades.values(), reverse=True)[:depth]
    return gained / sum(grade / math.log2(n + 2) for n, grade in enumerate(best))


def recall(found: Sequence[str], grades: Mapping[str, int], depth: int = 100) -> float:
    return len(set(found[:depth]) & set(grades)) / len(grades)


async def evaluate(
    name: str, run: Search, collection: Cranfield, documents: Mapping[UUID, str]
) -> None:
    gains, recalls = 0.0, 0.0
    begun = time.perf_counter()
    for query_id, text in collection.queries:
        found = [documents[page_id] for page_id in await run(text)]
        gains += ndcg(found, collection.judgements[query_id])
        recalls += recall(found, collection.judgements[query_id])
    count = len(collection.queries)
    milliseconds = (time.perf_counter() - begun) / count * 1000
    print(
        f"{name:8} nDCG@10 {gains / count:.3f}   recall@100 {recalls / count:.3f}"
        f"   {milliseconds:.0f} ms a query"
    )


async def main(corpora: Path) -> None:
    settings = get_settings()
    database = Database(make_engine(settings.require_database_url()))
    embedder = local_embedder(settings)
    collection = read_cranfield(corpora / "cranfield")
    wiki = await make_wiki(database)
    actor = wiki.actor

    async def by_words(text: str) -> list[UUID]:
        async with database.session() as session:
            found = await search(session, actor, text, limit=100)
        return [hit.page_id for hit in found.hits]

    async def by_meaning(text: str) -> list[UUID]:
        vector = QueryVector(embedder.name, (await embedder.embed([text]))[0])
        async with database.session() as session:
            return await by_vector(session, Scope(actor), vector)

    async def fused(text: str) -> list[UUID]:
        vector = QueryVector(embedder.name, (await embedder.embed([text]))[0])
        async with database.session() as session:
            found = await search(session, actor, text, limit=100, vector=vector)
        return [hit.page_id for hit in found.hits]

    try:
        begun = time.perf_counter()
        documents = await fill(database, wiki, embedder, collection)
        print(f"{len(documents)} pages indexed in {time.perf_counter() - begun:.0f} s")
        for name, run in (("words", by_words), ("vectors", by_meaning), ("fused", fused)):
            await evaluate(name, run, collection, documents)
    finally:
        async with database.session() as session:
            await session.execute(delete(Workspace).where(Workspace.id == actor.workspace_id))
        await database.close()


if __name__ == "__main__":
    if "PAGETURN_CORPORA" not in os.environ:
        sys.exit("PAGETURN_CORPORA names no folder of corpora: skipped.")
    asyncio.run(main(Path(os.environ["PAGETURN_CORPORA"])))
