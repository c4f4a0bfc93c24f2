"""Each dimension gets its index, once, and searches use it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from shared.core.db import Database
from shared.core.tunables import MAX_INDEXED_DIMENSIONS, VECTOR_INDEXES
from shared.search.repository import Scope
from shared.search.vector_indexes import add_vector_indexes
from shared.search.vectors import QueryVector, by_vector, nearest
from shared.wiki.models import Page
from tests.factories.saved_pages import make_page
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from workers.indexing.indexer import index_page

_MINE = "relname ~ '^ix_page_embeddings_hnsw_' AND relname <> 'ix_page_embeddings_hnsw_384'"


async def indexes(database: Database) -> dict[str, bool]:
    """Those that were added, each with whether it is valid."""
    async with database.session() as session:
        rows = await session.execute(
            text(
                "SELECT relname, indisvalid FROM pg_class JOIN pg_index ON indexrelid = oid "
                f"WHERE {_MINE}"
            )
        )
        return {row[0]: row[1] for row in rows}


@pytest.fixture(autouse=True)
async def no_indexes_stay(database: Database) -> AsyncIterator[None]:
    yield
    for name in await indexes(database):
        async with database.session() as session:
            await session.execute(text(f"DROP INDEX {name}"))


async def index_at(database: Database, world: World, dimensions: int) -> FakeEmbedder:
    embedder = FakeEmbedder(f"model-{dimensions}", dimensions)
    page = await make_page(database, world, f"Page {dimensions}", "Annual leave.")
    assert (await index_page(database, embedder, page.id)).status == "indexed"
    return embedder


@pytest.mark.req("RA-02")
async def test_the_first_rows_of_a_dimension_bring_its_index(
    database: Database, world: World
) -> None:
    assert await add_vector_indexes(database) == []
    await index_at(database, world, 384)
    assert await add_vector_indexes(database) == []
    await index_at(database, world, 24)
    await index_at(database, world, 48)
    assert await add_vector_indexes(database) == [24, 48]
    assert await add_vector_indexes(database) == []
    assert await indexes(database) == {
        "ix_page_embeddings_hnsw_24": True,
        "ix_page_embeddings_hnsw_48": True,
    }


async def plan(database: Database, world: World, vector: QueryVector, *settings: str) -> str:
    """How PostgreSQL would look for the vector."""
    query = nearest(Scope(world.actor("owner")), vector).compile(
        dialect=database.engine.dialect, compile_kwargs={"literal_binds": True}
    )
    async with database.session() as session:
        for setting in ("hnsw.iterative_scan = relaxed_order", *settings):
            await session.execute(text(f"SET LOCAL {setting}"))
        rows = await session.scalars(text(f"EXPLAIN {query}".replace(":", "\\:")))
        return "\n".join(rows)


async def crowd(database: Database, dimensions: int) -> None:
    """Three hundred more pages with fifteen chunks each, of random directions."""
    async with database.session() as session:
        await session.execute(
            text("""
                INSERT INTO pages (id, slug_id, title, content, text_content, version, position,
                       workspace_id, space_id)
                SELECT gen_random_uuid(), 'crowd' || number, 'Crowd', content, '', version,
                       position, workspace_id, space_id
                  FROM pages, generate_series(1, 300) AS number""")
        )
        await session.execute(
            text("""
                INSERT INTO page_embeddings (id, workspace_id, space_id, page_id, chunk_index,
                       chunk_start, chunk_length, content, content_hash, heading_path, block_ids,
                       model_name, model_dimensions, metadata, embedding)
                SELECT gen_random_uuid(), one.workspace_id, one.space_id, pages.id, number, 0, 1,
                       one.content, content_hash, heading_path, block_ids, model_name,
                       model_dimensions, metadata,
                       (SELECT array_agg(random() - 0.5 + 0 * number * place)
                          FROM generate_series(1, :dimensions) AS place
                         WHERE pages.id IS NOT NULL)::vector
                  FROM page_embeddings AS one, pages, generate_series(1, 15) AS number
                 WHERE pages.title = 'Crowd'"""),
            {"dimensions": dimensions},
        )
        await session.execute(text("ANALYZE"))


@pytest.mark.req("RA-02", "RA-06")
async def test_a_search_among_many_uses_the_index_of_its_dimension(
    database: Database, world: World
) -> None:
    embedder = await index_at(database, world, 32)
    await crowd(database, 32)
    vector = QueryVector(embedder.name, embedder.vector("annual leave"))
    assert "hnsw" not in await plan(database, world, vector)
    await add_vector_indexes(database)
    assert "ix_page_embeddings_hnsw_32" in await plan(database, world, vector)
    async with database.session() as session:
        found = await by_vector(session, Scope(world.actor("owner")), vector)
        assert (await session.get_one(Page, found[0])).title == "Page 32"


@pytest.mark.req("RA-02")
@pytest.mark.parametrize("dimensions", [384, 1536, MAX_INDEXED_DIMENSIONS])
async def test_the_index_of_each_dimension_is_one_that_a_search_can_use(
    database: Database, world: World, dimensions: int
) -> None:
    embedder = await index_at(database, world, dimensions)
    await add_vector_indexes(database)
    vector = QueryVector(embedder.name, embedder.vector("annual leave"))
    # Among so few rows the planner would rather look at each.
    used = await plan(database, world, vector, "enable_sort = off", "enable_seqscan = off")
    assert f"ix_page_embeddings_hnsw_{dimensions}" in used


async def test_several_schedulers_at_once_make_one_index(database: Database, world: World) -> None:
    await index_at(database, world, 24)
    made = await asyncio.gather(*(add_vector_indexes(database) for _ in range(3)))
    assert sorted(made) == [[], [], [24]]
    assert await indexes(database) == {"ix_page_embeddings_hnsw_24": True}


async def test_what_a_killed_scheduler_left_behind_is_made_again(
    database: Database, world: World
) -> None:
    await index_at(database, world, 24)
    async with database.session() as writing:
        # The build waits for writers that were there before it.
        await writing.execute(text("UPDATE page_embeddings SET chunk_length = chunk_length"))
        building = asyncio.create_task(add_vector_indexes(database))
        async with asyncio.timeout(10):
            while not await indexes(database):
                await asyncio.sleep(0.01)
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building
    assert await indexes(database) == {"ix_page_embeddings_hnsw_24": False}
    assert await add_vector_indexes(database) == [24]
    assert await indexes(database) == {"ix_page_embeddings_hnsw_24": True}


async def test_vectors_too_long_for_an_index_are_searched_without_one(
    database: Database, world: World
) -> None:
    embedder = await index_at(database, world, MAX_INDEXED_DIMENSIONS + 1)
    assert await add_vector_indexes(database) == []
    vector = QueryVector(embedder.name, embedder.vector("annual leave"))
    async with database.session() as session:
        assert len(await by_vector(session, Scope(world.actor("owner")), vector)) == 1


async def test_the_number_of_indexes_is_bounded(database: Database, world: World) -> None:
    for number in range(VECTOR_INDEXES + 1):
        await index_at(database, world, 8 + number)
    assert len(await add_vector_indexes(database)) == VECTOR_INDEXES - 1  # 384 has one already
    assert await add_vector_indexes(database) == []
