"""Pages whose message was lost, or whose indexing failed, are found again, not too often."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import delete, func, update

from shared.bus.jobs import PageEvent
from shared.core.db import Database
from shared.core.tunables import INDEX_PAUSE_SECONDS
from shared.providers.models import AiSettings
from shared.search.lagging import want_again
from shared.wiki.models import PageIndex
from tests.factories.saved_pages import make_page, put_in_trash
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.turns import Stage
from workers.indexing.indexer import index_page
from workers.llm.local_embeddings import DEFAULT_MODEL
from workers.maintenance.indexing import reconcile


def local() -> FakeEmbedder:
    """Stands in for the model that the workspaces have chosen."""
    return FakeEmbedder(DEFAULT_MODEL)


async def sweep(stage: Stage) -> list[UUID]:
    sent: list[PageEvent] = []
    assert await reconcile(stage.runtime, send=sent.append) == len(sent)
    return [event.page_id for event in sent]


async def rest(database: Database, seconds: float) -> None:
    """As if that much time had passed."""
    past = datetime.now(UTC) - timedelta(seconds=seconds)
    async with database.session() as session:
        await session.execute(update(PageIndex).values(updated_at=past, enqueued_at=past))
        await session.execute(update(AiSettings).values(updated_at=past - timedelta(days=1)))


async def test_a_lagging_page_is_enqueued_after_its_pause_and_then_after_longer_ones(
    database: Database, world: World, stage: Stage
) -> None:
    page = await make_page(database, world, "Handbook", "Words.")
    assert await sweep(stage) == []
    await rest(database, INDEX_PAUSE_SECONDS + 1)
    assert await sweep(stage) == [page.id]
    assert await sweep(stage) == []
    await rest(database, INDEX_PAUSE_SECONDS + 1)
    assert await sweep(stage) == []
    await rest(database, 2 * INDEX_PAUSE_SECONDS + 1)
    assert await sweep(stage) == [page.id]


async def test_an_indexed_page_is_left_alone(
    database: Database, world: World, stage: Stage
) -> None:
    page = await make_page(database, world, "Handbook", "Words.")
    await index_page(database, local(), page.id)
    await rest(database, 10_000)
    assert await sweep(stage) == []


async def test_a_failed_page_is_tried_again_later(
    database: Database, world: World, stage: Stage
) -> None:
    page = await make_page(database, world, "Handbook", "Words.")
    embedder = local()
    embedder.failure = ValueError()
    await index_page(database, embedder, page.id)
    assert await sweep(stage) == []
    await rest(database, 2 * INDEX_PAUSE_SECONDS + 1)
    assert await sweep(stage) == [page.id]
    await index_page(database, local(), page.id)
    await rest(database, 10_000)
    assert await sweep(stage) == []


async def test_pages_of_another_model_and_pages_without_a_row_are_found(
    database: Database, world: World, stage: Stage
) -> None:
    old = await make_page(database, world, "Old", "Words.")
    await index_page(database, FakeEmbedder("former"), old.id)
    lost = await make_page(database, world, "Lost", "Words.")
    async with database.session() as session:
        await session.execute(delete(PageIndex).where(PageIndex.page_id == lost.id))
    await sweep(stage)  # gives the page its row
    await rest(database, 10_000)
    assert set(await sweep(stage)) == {old.id, lost.id}


async def test_a_trashed_page_whose_message_was_lost_is_found_while_it_has_chunks(
    database: Database, world: World, stage: Stage
) -> None:
    page = await make_page(database, world, "Handbook", "Words.")
    await index_page(database, local(), page.id)
    await put_in_trash(database, world, page.id)
    await rest(database, 10_000)
    assert await sweep(stage) == [page.id]
    await index_page(database, local(), page.id)
    await rest(database, 10_000)
    assert await sweep(stage) == []


async def test_a_row_that_another_sweep_holds_is_skipped(
    database: Database, world: World, stage: Stage
) -> None:
    page = await make_page(database, world, "Handbook", "Words.")
    await rest(database, 10_000)
    async with database.session() as session:
        held = update(PageIndex).where(PageIndex.page_id == page.id)
        await session.execute(held.values(attempts=PageIndex.attempts))
        assert await sweep(stage) == []
    async with database.session() as session:
        await session.execute(update(PageIndex).values(updated_at=func.now() - timedelta(hours=3)))
    await rest(database, 10_000)
    assert await sweep(stage) == [page.id]


async def test_reindexing_wants_every_live_page_of_the_space_again(
    database: Database, world: World, stage: Stage
) -> None:
    page = await make_page(database, world, "Handbook", "Words.")
    elsewhere = await make_page(database, world, "Private", "Words.", space="PRIV")
    for each in (page, elsewhere):
        await index_page(database, local(), each.id)
    async with database.session() as session:
        assert await want_again(session, space_id=world.space("WIKI")) == [page.id]
    embedder = local()
    assert (await index_page(database, embedder, page.id)).status == "indexed"
    assert embedder.texts == []  # unchanged passages keep their vectors
    assert (await index_page(database, embedder, elsewhere.id)).status == "current"


@pytest.mark.req("RA-07")
async def test_after_a_change_of_the_settings_pages_that_lag_are_enqueued_at_once(
    database: Database, world: World, stage: Stage
) -> None:
    lagging = await make_page(database, world, "Lagging", "Words.")
    await index_page(database, local(), (await make_page(database, world, "Done", "Words.")).id)
    await rest(database, 1)
    assert await sweep(stage) == []
    async with database.session() as session:
        await session.execute(update(AiSettings).values(version=AiSettings.version + 1))
    assert await sweep(stage) == [lagging.id]
    assert await sweep(stage) == []
