"""The catalogue's first content, and which model a send comes to."""

import asyncio
from decimal import Decimal

import pytest
from sqlalchemy import func, select, update

from shared.core.db import Database
from shared.providers import catalogue, repository
from shared.providers.catalogue import FIRST_CONTENT, Entry
from shared.providers.errors import UnknownModelError
from shared.providers.models import AiSettings, CatalogueModel
from tests.factories.world import World


async def use(database: Database, world: World, driver: str, model: str) -> None:
    async with database.session() as session:
        await session.execute(
            update(AiSettings)
            .where(AiSettings.workspace_id == world.workspace_id)
            .values(driver=driver, chat_model=model)
        )


async def resolve(
    database: Database, world: World, *, chosen: str | None = None, requested: str | None = None
) -> str:
    async with database.session() as session:
        ai = await repository.get(session, world.workspace_id)
        return await catalogue.resolve_model(session, ai, chosen=chosen, requested=requested)


async def test_two_first_readers_make_one_first_content(database: Database, world: World) -> None:
    async def read() -> CatalogueModel | None:
        async with database.session() as session:
            return await catalogue.find(session, world.workspace_id, "openai", "o1-mini")

    found = await asyncio.gather(*(read() for _ in range(4)))
    assert {(row.input_price, row.output_price, row.context_window) for row in found if row} == {
        (Decimal("0.3"), Decimal("0.3"), 128_000)
    }
    assert all(found)
    async with database.session() as session:
        count = await session.scalar(select(func.count()).select_from(CatalogueModel))
    assert count == len(FIRST_CONTENT)


async def test_an_emptied_catalogue_stays_empty(database: Database, world: World) -> None:
    owner = world.actor("owner")
    for row in FIRST_CONTENT:
        async with database.session() as session:
            await catalogue.delete_model(session, owner, row.driver, row.model)
    async with database.session() as session:
        assert await catalogue.list_models(session, owner) == []


async def test_a_send_gets_the_model_it_asks_for_only_if_that_is_offered(
    database: Database, world: World
) -> None:
    await use(database, world, "openai", "gpt-4o")
    assert await resolve(database, world) == "gpt-4o"
    assert await resolve(database, world, requested="gpt-4o") == "gpt-4o"
    assert await resolve(database, world, requested="o3-mini") == "o3-mini"
    assert await resolve(database, world, chosen="o3-mini") == "o3-mini"
    assert await resolve(database, world, chosen="o3-mini", requested="gpt-4o") == "gpt-4o"
    async with database.session() as session:
        await catalogue.put_model(
            session, world.actor("owner"), Entry("openai", "o1", allowed=False)
        )
    for refused in ("o1", "claude-sonnet-4-5", "gpt-9", ""):
        with pytest.raises(UnknownModelError):
            await resolve(database, world, requested=refused)


async def test_a_chats_choice_that_is_not_offered_any_more_gives_way_to_the_workspaces(
    database: Database, world: World
) -> None:
    await use(database, world, "anthropic", "claude-opus-4-1")
    assert await resolve(database, world, chosen="o3-mini") == "claude-opus-4-1"


async def test_the_workspaces_model_is_offered_also_when_the_catalogue_does_not_know_it(
    database: Database, world: World
) -> None:
    await use(database, world, "openai-compatible", "llama-local")
    assert await resolve(database, world, requested="llama-local") == "llama-local"
    async with database.session() as session:
        ai = await repository.get(session, world.workspace_id)
        assert await catalogue.allowed_models(session, ai) == ["llama-local"]
        assert await catalogue.find(session, world.workspace_id, ai.driver, "llama-local") is None


async def test_what_may_be_chosen_raises_the_version_and_a_price_does_not(
    database: Database, world: World
) -> None:
    await use(database, world, "openai", "gpt-4o")
    owner = world.actor("owner")

    async def version_after(entry: Entry) -> int:
        async with database.session() as session:
            await catalogue.put_model(session, owner, entry)
        async with database.session() as session:
            return (await repository.get(session, owner.workspace_id)).version

    assert await version_after(Entry("gemini", "of another driver")) == 1
    assert await version_after(Entry("openai", "new")) == 2
    assert await version_after(Entry("openai", "new", Decimal(1), Decimal(2))) == 2
    assert await version_after(Entry("openai", "new", context_window=9_000)) == 3
    assert await version_after(Entry("openai", "new", context_window=9_000, allowed=False)) == 4
    async with database.session() as session:
        await catalogue.delete_model(session, owner, "openai", "new")
    async with database.session() as session:
        assert (await repository.get(session, owner.workspace_id)).version == 5
