"""Making the index follow a page: read, cut, embed what is new, swap.

Nothing is locked while the model works. What was embedded for a version that is no longer
the page's is thrown away, and the page is read again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from shared.core.db import Database
from shared.core.errors import PageturnError
from shared.core.logging import get_logger
from shared.core.tunables import INDEX_RERUNS
from shared.search import index_repository as repository
from shared.search.index_repository import ChunkRow, PageState
from shared.wiki.document import blocks, to_text
from workers.indexing.chunking import chunk, content_hash, embedded_text
from workers.llm.embeddings import Embedder

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class IndexResult:
    """`indexed`: rows follow the page now; `current`: they did already; `removed`: the page
    is in the trash; `gone`: there is no such page; `superseded`: it was edited again and
    again, and a later task does it; `failed`: the index row says why.

    `chunks` is the page's number of rows, `embedded` how many texts the model was given.
    """

    status: Literal["indexed", "current", "removed", "gone", "superseded", "failed"]
    chunks: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class _Passages:
    rows: list[ChunkRow]
    texts: dict[bytes, str]  # what the model reads, by content hash


async def index_page(database: Database, embedder: Embedder, page_id: UUID) -> IndexResult:
    """Make the index hold the page as it is. Raises only what the database raises."""
    embedded = 0
    for _ in range(INDEX_RERUNS):
        async with database.session() as session:
            page = await repository.read_page(session, page_id)
        if page is None:
            return IndexResult("gone")
        if page.content is None:
            if await _remove(database, page):
                return IndexResult("removed")
            continue
        result = await _follow(database, embedder, page)
        embedded += result.embedded
        if result.status != "superseded":
            return IndexResult(result.status, result.chunks, embedded)
    return IndexResult("superseded", embedded=embedded)


async def _remove(database: Database, page: PageState) -> bool:
    async with database.session() as session:
        unchanged = await repository.lock(session, page)
        if unchanged:
            await repository.clear(session, page.page_id)
        return unchanged


async def _follow(database: Database, embedder: Embedder, page: PageState) -> IndexResult:
    try:
        model_name = embedder.name
        async with database.session() as session:
            if await repository.is_current(session, page, model_name):
                return IndexResult("current")
            known = await repository.known_hashes(session, page.page_id, model_name)
        passages = await asyncio.to_thread(_passages, page)
        vectors = await _embed(embedder, passages, known)
    except (PageturnError, ValueError, RuntimeError, MemoryError) as error:
        return await _failed(database, page, error)
    async with database.session() as session:
        swapped = await repository.lock(session, page) and await repository.swap(
            session,
            page,
            model_name=model_name,
            chunks=passages.rows,
            vectors=vectors,
        )
    status: Literal["indexed", "superseded"] = "indexed" if swapped else "superseded"
    return IndexResult(status, len(passages.rows), len(vectors))


def _passages(page: PageState) -> _Passages:
    document = page.content or {}
    found = chunk(to_text(document), blocks(document))
    texts = {content_hash(page.title, p): embedded_text(page.title, p) for p in found}
    rows = [
        ChunkRow(
            index=p.index,
            start=p.start,
            length=p.length,
            content=p.content,
            content_hash=content_hash(page.title, p),
            heading_path=p.heading_path,
            block_ids=p.block_ids,
        )
        for p in found
    ]
    return _Passages(rows, texts)


async def _embed(
    embedder: Embedder, passages: _Passages, known: Mapping[bytes, int]
) -> dict[bytes, Sequence[float]]:
    """Vectors of what is new; of everything when the model's dimensions have changed."""
    vectors: dict[bytes, Sequence[float]] = {}

    async def add(keys: list[bytes]) -> None:
        made = await embedder.embed([passages.texts[key] for key in keys])
        vectors.update(zip(keys, made, strict=True))

    await add([key for key in passages.texts if key not in known])
    dimensions = {len(vector) for vector in vectors.values()}
    if dimensions:
        await add([key for key in passages.texts if known.get(key, 0) not in dimensions | {0}])
    return vectors


async def _failed(database: Database, page: PageState, error: Exception) -> IndexResult:
    log.warning("index_failed", page_id=str(page.page_id), error=type(error).__name__)
    async with database.session() as session:
        await repository.record_failure(session, page.page_id, _reason(error))
    return IndexResult("failed")


def _reason(error: Exception) -> str:
    """Short, and without a word of the page."""
    if isinstance(error, PageturnError):
        return error.message
    return f"Indexing failed ({type(error).__name__})."
