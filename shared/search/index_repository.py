"""The SQL of the index: what a page is, which chunks stand for it, and swapping them.

Locks are taken page first, then index row, as a save takes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import delete, exists, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from shared.core.ids import new_id
from shared.search.models import PageEmbedding
from shared.wiki.models import Page, PageIndex


@dataclass(frozen=True, slots=True)
class PageState:
    """A page as the index sees it; `content` is None for one in the trash."""

    page_id: UUID
    workspace_id: UUID
    space_id: UUID
    title: str
    version: int
    content: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk to stand for a page. `content_hash` covers all that was embedded."""

    index: int
    start: int
    length: int
    content: str
    content_hash: bytes
    heading_path: Sequence[str]
    block_ids: Sequence[str]

    def place(self) -> dict[str, Any]:
        """What may change without a new vector."""
        return {
            "chunk_start": self.start,
            "chunk_length": self.length,
            "heading_path": list(self.heading_path),
            "block_ids": list(self.block_ids),
        }


async def read_page(session: AsyncSession, page_id: UUID) -> PageState | None:
    """The page with its document; None when it is gone."""
    page = await session.scalar(
        select(Page).where(Page.id == page_id).options(undefer(Page.content))
    )
    if page is None:
        return None
    return PageState(
        page_id=page.id,
        workspace_id=page.workspace_id,
        space_id=page.space_id,
        title=page.title,
        version=page.version,
        content=page.content if page.deleted_at is None else None,
    )


async def is_current(session: AsyncSession, page: PageState, model_name: str) -> bool:
    """Whether the index holds this version of the page, by this model, in this space."""
    astray = exists().where(
        PageEmbedding.page_id == page.page_id, PageEmbedding.space_id != page.space_id
    )
    found = await session.scalar(
        select(PageIndex.page_id).where(
            PageIndex.page_id == page.page_id,
            PageIndex.indexed_version == page.version,
            PageIndex.wanted_version <= page.version,
            PageIndex.model_name == model_name,
            PageIndex.state == "indexed",
            ~astray,
        )
    )
    return found is not None


async def workspace_of(session: AsyncSession, page_id: UUID) -> UUID | None:
    """The page's workspace; None when the page is gone."""
    return await session.scalar(select(Page.workspace_id).where(Page.id == page_id))


async def known_hashes(session: AsyncSession, page_id: UUID, model_name: str) -> dict[bytes, int]:
    """Hashes of what this model has embedded of the page, with the vectors' dimensions."""
    rows = await session.execute(
        select(PageEmbedding.content_hash, PageEmbedding.model_dimensions).where(
            PageEmbedding.page_id == page_id, PageEmbedding.model_name == model_name
        )
    )
    return {row[0]: row[1] for row in rows}


async def lock(session: AsyncSession, page: PageState) -> bool:
    """Lock the page's index row, made if missing. False when the page moved on since it was
    read: another version, into or out of the trash, another space, or gone."""
    kept = select(Page.id).where(Page.id == page.page_id).with_for_update(key_share=True, read=True)
    if await session.scalar(kept) is None:
        return False
    await session.execute(
        insert(PageIndex)
        .values(page_id=page.page_id, workspace_id=page.workspace_id, wanted_version=page.version)
        .on_conflict_do_nothing()
    )
    await session.execute(
        select(PageIndex.page_id).where(PageIndex.page_id == page.page_id).with_for_update()
    )
    # Read after the lock: only now can no other save come in between.
    now = (
        await session.execute(
            select(Page.version, Page.deleted_at, Page.space_id).where(Page.id == page.page_id)
        )
    ).one()
    trashed = now.deleted_at is not None
    return (now.version, trashed, now.space_id) == (
        page.version,
        page.content is None,
        page.space_id,
    )


async def clear(session: AsyncSession, page_id: UUID) -> None:
    """Remove a page's chunks; its index row then says that nothing is indexed."""
    await session.execute(delete(PageEmbedding).where(PageEmbedding.page_id == page_id))
    await session.execute(
        update(PageIndex)
        .where(PageIndex.page_id == page_id)
        .values(indexed_version=0, state="pending", chunks=0, attempts=0, last_error=None)
    )


async def swap(
    session: AsyncSession,
    page: PageState,
    *,
    model_name: str,
    chunks: Sequence[ChunkRow],
    vectors: Mapping[bytes, Sequence[float]],
) -> bool:
    """Make `chunks` the page's only rows, under the lock taken by `lock`.

    `vectors` holds what is new, by content hash; the rest is taken from the rows that are
    there. False, with nothing changed, when one of those has gone meanwhile.
    """
    mine = (PageEmbedding.page_id == page.page_id, PageEmbedding.model_name == model_name)
    old = await session.scalars(
        select(PageEmbedding).where(*mine).options(undefer(PageEmbedding.embedding))
    )
    rows = {row.chunk_index: row for row in old}
    known: dict[bytes, Any] = {row.content_hash: row.embedding for row in rows.values()}
    known |= vectors
    if any(chunk.content_hash not in known for chunk in chunks):
        return False

    fresh: list[ChunkRow] = []
    for chunk in chunks:
        row = rows.get(chunk.index)
        same = row is not None and row.content_hash == chunk.content_hash
        if row is not None and same and chunk.content_hash not in vectors:
            del rows[chunk.index]
            for column, value in chunk.place().items():
                setattr(row, column, value)
        else:
            fresh.append(chunk)
    # The rest of the old rows: their place is taken, or nothing stands there any more.
    stale = [row.id for row in rows.values()]
    await session.flush()
    await session.execute(delete(PageEmbedding).where(PageEmbedding.id.in_(stale)))
    if fresh:
        await session.execute(
            insert(PageEmbedding),
            [_values(page, model_name, chunk, known[chunk.content_hash]) for chunk in fresh],
        )
    await _settle(session, page, model_name, len(chunks))
    return True


def _values(
    page: PageState, model_name: str, chunk: ChunkRow, vector: Sequence[float]
) -> dict[str, Any]:
    return {
        "id": new_id(),
        "workspace_id": page.workspace_id,
        "space_id": page.space_id,
        "page_id": page.page_id,
        "chunk_index": chunk.index,
        "content": chunk.content,
        "content_hash": chunk.content_hash,
        "model_name": model_name,
        "model_dimensions": len(vector),
        "embedding": vector,
        "meta": {},
        **chunk.place(),
    }


async def _settle(session: AsyncSession, page: PageState, model_name: str, chunks: int) -> None:
    """Every row says which version it shows; another model's rows go."""
    await session.execute(
        delete(PageEmbedding).where(
            PageEmbedding.page_id == page.page_id, PageEmbedding.model_name != model_name
        )
    )
    await session.execute(
        update(PageEmbedding)
        .where(PageEmbedding.page_id == page.page_id)
        .values(meta={"version": page.version}, space_id=page.space_id)
    )
    await session.execute(
        update(PageIndex)
        .where(PageIndex.page_id == page.page_id)
        .values(
            indexed_version=page.version,
            model_name=model_name,
            state="indexed",
            chunks=chunks,
            attempts=0,
            last_error=None,
        )
    )


async def record_failure(session: AsyncSession, page_id: UUID, reason: str) -> None:
    """Keep why a page could not be indexed; the reconciler tries again later."""
    await session.execute(
        update(PageIndex)
        .where(PageIndex.page_id == page_id)
        .values(state="error", last_error=reason, attempts=PageIndex.attempts + 1)
    )
