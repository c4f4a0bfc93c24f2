"""The index ends at the page's last version, whatever happens while the model works."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import delete, select

from shared.core.db import Database
from shared.search.models import PageEmbedding
from shared.wiki.models import Page, PageIndex
from shared.wiki.service import move_page, restore_page
from tests.factories.saved_pages import make_page, put_in_trash, save_page
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from workers.indexing.indexer import index_page
from workers.llm.embeddings import EmbeddingUnavailableError

SECTIONS = [f"## Part {n}\n\n{f'Sentence about subject{n}. ' * 40}" for n in range(4)]
LONG = "\n\n".join(SECTIONS)


async def rows(database: Database, page_id: UUID) -> list[PageEmbedding]:
    async with database.session() as session:
        found = await session.scalars(
            select(PageEmbedding)
            .where(PageEmbedding.page_id == page_id)
            .order_by(PageEmbedding.model_name, PageEmbedding.chunk_index)
        )
        return list(found)


async def index_row(database: Database, page_id: UUID) -> PageIndex:
    async with database.session() as session:
        return await session.get_one(PageIndex, page_id)


def while_embedding(
    work: Coroutine[Any, Any, None],
) -> Callable[[], Coroutine[Any, Any, None]]:
    """A hook that runs `work` once, while the model is waited for."""
    waiting = [work]

    async def during() -> None:
        if waiting:
            await waiting.pop()

    return during


@pytest.mark.req("RA-02", "RA-03")
async def test_a_page_is_cut_embedded_and_stored_with_its_places(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    result = await index_page(database, FakeEmbedder(), page.id)
    stored = await rows(database, page.id)
    assert result.status == "indexed"
    assert len(stored) == result.chunks == result.embedded > 3
    for row in stored:
        end = row.chunk_start + row.chunk_length
        assert page.text_content[row.chunk_start : end] == row.content
        assert row.block_ids
        assert (row.model_name, row.model_dimensions) == ("fake", 384)
    assert stored[-1].heading_path == ["Part 3"]
    row = await index_row(database, page.id)
    assert (row.state, row.indexed_version, row.chunks) == ("indexed", 1, len(stored))


@pytest.mark.req("RA-03")
async def test_only_passages_that_are_new_are_embedded(database: Database, world: World) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    embedder = FakeEmbedder()
    await index_page(database, embedder, page.id)
    embedder.texts.clear()
    await save_page(database, world, page.id, markdown=LONG + "\n\n## New\n\nAn added line.")
    result = await index_page(database, embedder, page.id)
    assert result.status == "indexed"
    assert 1 <= len(embedder.texts) <= 2
    assert "An added line." in embedder.texts[-1]
    await save_page(database, world, page.id, markdown="## First\n\nA start.\n\n" + LONG)
    result = await index_page(database, embedder, page.id)
    stored = await rows(database, page.id)
    assert [row.chunk_index for row in stored] == list(range(result.chunks))


async def test_an_indexed_page_is_not_read_again(database: Database, world: World) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    embedder = FakeEmbedder()
    await index_page(database, embedder, page.id)
    embedder.texts.clear()
    assert (await index_page(database, embedder, page.id)).status == "current"
    assert embedder.texts == []


async def test_a_new_title_is_embedded_with_every_passage(database: Database, world: World) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    embedder = FakeEmbedder()
    first = await index_page(database, embedder, page.id)
    await save_page(database, world, page.id, title="Manual")
    second = await index_page(database, embedder, page.id)
    assert second.embedded == first.chunks
    assert embedder.texts[-1].startswith("Manual")


async def test_an_empty_page_is_indexed_without_chunks(database: Database, world: World) -> None:
    page = await make_page(database, world, "Empty")
    result = await index_page(database, FakeEmbedder(), page.id)
    assert (result.status, result.chunks) == ("indexed", 0)
    assert (await index_row(database, page.id)).state == "indexed"


@pytest.mark.req("RA-03", "RA-04")
async def test_a_trashed_page_loses_its_chunks_and_a_restored_one_has_them_again(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    await index_page(database, FakeEmbedder(), page.id)
    await put_in_trash(database, world, page.id)
    assert (await index_page(database, FakeEmbedder(), page.id)).status == "removed"
    assert await rows(database, page.id) == []
    async with database.session() as session:
        await restore_page(session, world.actor("owner"), page.id)
    assert (await index_page(database, FakeEmbedder(), page.id)).status == "indexed"
    assert await rows(database, page.id)


@pytest.mark.req("RA-04")
async def test_chunks_follow_a_page_into_another_space(database: Database, world: World) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    embedder = FakeEmbedder()
    await index_page(database, embedder, page.id)
    embedder.texts.clear()
    async with database.session() as session:
        (await session.get_one(Page, page.id)).space_id = world.space("PRIV")
    assert (await index_page(database, embedder, page.id)).status == "indexed"
    assert {row.space_id for row in await rows(database, page.id)} == {world.space("PRIV")}
    assert embedder.texts == []


async def test_a_page_moved_in_the_tree_needs_no_work(database: Database, world: World) -> None:
    parent = await make_page(database, world, "Parent")
    page = await make_page(database, world, "Handbook", LONG)
    await index_page(database, FakeEmbedder(), page.id)
    async with database.session() as session:
        await move_page(session, world.actor("owner"), page.id, parent_page_id=parent.id)
    assert (await index_page(database, FakeEmbedder(), page.id)).status == "current"


@pytest.mark.req("RA-03")
async def test_after_fifty_edits_during_embedding_the_last_version_is_indexed(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Diary", "Version zero.")
    seen: list[set[int]] = []

    async def edit() -> None:
        for number in range(50):
            await save_page(database, world, page.id, markdown=f"Edit number{number}.\n\n{LONG}")
            seen.append({row.meta["version"] for row in await rows(database, page.id)})

    embedder = FakeEmbedder()
    embedder.during = while_embedding(edit())
    result = await index_page(database, embedder, page.id)
    assert result.status == "indexed"
    assert all(versions == set() for versions in seen)  # what was embedded first never showed
    stored = await rows(database, page.id)
    assert {row.meta["version"] for row in stored} == {51}
    assert "Edit number49." in stored[0].content
    row = await index_row(database, page.id)
    assert (row.indexed_version, row.wanted_version) == (51, 51)


async def test_a_page_edited_in_every_run_is_left_to_a_later_task(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Diary", "Version zero.")
    number = iter(range(100))

    async def during() -> None:
        await save_page(database, world, page.id, markdown=f"Edit {next(number)}.")

    embedder = FakeEmbedder()
    embedder.during = during
    assert (await index_page(database, embedder, page.id)).status == "superseded"
    assert await rows(database, page.id) == []
    embedder.during = None
    assert (await index_page(database, embedder, page.id)).status == "indexed"


async def test_a_page_trashed_during_embedding_has_no_chunks(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    embedder = FakeEmbedder()
    embedder.during = while_embedding(put_in_trash(database, world, page.id))
    assert (await index_page(database, embedder, page.id)).status == "removed"
    assert await rows(database, page.id) == []


async def test_a_page_deleted_during_embedding_has_no_chunks(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)

    async def purge() -> None:
        async with database.session() as session:
            await session.execute(delete(Page).where(Page.id == page.id))

    embedder = FakeEmbedder()
    embedder.during = while_embedding(purge())
    assert (await index_page(database, embedder, page.id)).status == "gone"
    assert await rows(database, page.id) == []


async def test_tasks_for_one_page_at_once_leave_one_set_of_chunks(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    results = await asyncio.gather(
        *(index_page(database, FakeEmbedder(), page.id) for _ in range(4))
    )
    assert {result.status for result in results} <= {"indexed", "current"}
    stored = await rows(database, page.id)
    assert [row.chunk_index for row in stored] == list(range(len(stored)))


async def test_a_failure_is_kept_on_the_index_row_and_the_next_success_clears_it(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", "Secret words.")
    embedder = FakeEmbedder()
    embedder.failure = EmbeddingUnavailableError("The embedding model cannot be used.")
    assert (await index_page(database, embedder, page.id)).status == "failed"
    embedder.failure = ValueError("Secret words.")
    assert (await index_page(database, embedder, page.id)).status == "failed"
    row = await index_row(database, page.id)
    assert (row.state, row.attempts) == ("error", 2)
    assert row.last_error == "Indexing failed (ValueError)."
    embedder.failure = None
    assert (await index_page(database, embedder, page.id)).status == "indexed"
    row = await index_row(database, page.id)
    assert (row.state, row.attempts, row.last_error) == ("indexed", 0, None)


@pytest.mark.req("RA-02")
async def test_pages_of_two_models_and_dimensions_stand_side_by_side(
    database: Database, world: World
) -> None:
    first = await make_page(database, world, "Handbook", LONG)
    second = await make_page(database, world, "Manual", LONG)
    await index_page(database, FakeEmbedder("small", 64), first.id)
    await index_page(database, FakeEmbedder("large", 384), second.id)
    for page, model in ((first, ("small", 64)), (second, ("large", 384))):
        stored = await rows(database, page.id)
        assert {(row.model_name, row.model_dimensions) for row in stored} == {model}


@pytest.mark.req("RA-02", "RA-07")
async def test_another_models_rows_stay_until_the_page_is_done_and_then_go(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    await index_page(database, FakeEmbedder("former", 64), page.id)
    seen: list[set[str]] = []

    async def look() -> None:
        seen.append({row.model_name for row in await rows(database, page.id)})

    embedder = FakeEmbedder("new")
    embedder.during = while_embedding(look())
    result = await index_page(database, embedder, page.id)
    assert seen == [{"former"}]
    stored = await rows(database, page.id)
    assert [row.model_name for row in stored] == ["new"] * result.chunks
    assert len(embedder.texts) == result.chunks


async def test_a_model_that_changed_its_dimensions_embeds_the_page_anew(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Handbook", LONG)
    await index_page(database, FakeEmbedder("same", 64), page.id)
    await save_page(database, world, page.id, markdown=LONG + "\n\n## New\n\nAn added line.")
    result = await index_page(database, FakeEmbedder("same", 32), page.id)
    stored = await rows(database, page.id)
    assert result.embedded == len(stored)
    assert {row.model_dimensions for row in stored} == {32}
