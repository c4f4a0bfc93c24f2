"""Indexing by a provider, a workspace at a time: whose model, whose key, whose bill."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from uuid import UUID

import pytest
from sqlalchemy import select

from shared.bus.jobs import PageEvent
from shared.chat.models import Generation
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.core.tunables import EMBED_FAILED_RUNS, EMBED_FAILED_SECONDS, EMBED_REFUSED_SECONDS
from shared.providers.models import CatalogueModel
from shared.search.models import PageEmbedding
from shared.search.progress import index_progress
from shared.wiki.models import Page, PageIndex
from tests.factories.past import let_pass
from tests.factories.providers import choose_embeddings
from tests.factories.saved_pages import make_page, put_in_trash, save_page
from tests.factories.world import World
from tests.fakes.llm_script import Gate, Reply, error, json_reply
from tests.fakes.llm_stub import LlmStub
from workers.indexing.following import follow_page
from workers.indexing.indexer import IndexResult
from workers.maintenance.indexing import reconcile
from workers.runtime import Runtime

KEY = "sk-canary-embeddings-1"


@pytest.fixture
async def runtime(database: object, redis: object) -> AsyncIterator[Runtime]:
    settings = get_settings().model_copy(
        update={"private_models": True, "embed_retry_seconds": 0.0, "embed_seconds": 10.0}
    )
    made = Runtime(settings)
    yield made
    await made.close()


async def rows(database: Database, page: Page) -> list[PageEmbedding]:
    async with database.session() as session:
        found = await session.scalars(select(PageEmbedding).where(PageEmbedding.page_id == page.id))
        return list(found)


async def index_row(database: Database, page: Page) -> PageIndex:
    async with database.session() as session:
        return await session.get_one(PageIndex, page.id)


async def generations(database: Database) -> list[Generation]:
    async with database.session() as session:
        found = await session.scalars(select(Generation).order_by(Generation.created_at))
        return list(found)


async def progress(database: Database, world: World) -> tuple[int, int, bool]:
    async with database.session() as session:
        return await index_progress(session, world.workspace_id)


async def sweep(runtime: Runtime) -> list[UUID]:
    """What the clock's tick enqueues."""
    sent: list[PageEvent] = []
    await reconcile(runtime, send=sent.append)
    return [event.page_id for event in sent]


async def work_off(runtime: Runtime) -> list[IndexResult]:
    """One tick, and the tasks that come of it."""
    return [await follow_page(runtime, page_id) for page_id in await sweep(runtime)]


@pytest.mark.req("RA-02", "RA-03")
async def test_a_page_is_embedded_by_its_workspaces_model(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    stub.dimensions = 24
    await choose_embeddings(database, world.actor("owner"), model="nomic", url=stub.url, key=KEY)
    page = await make_page(database, world, "Handbook", "Annual leave is asked for in HR Links.")
    elsewhere = await make_page(database, world, "Other", "Words.", by="other", space="OTHER")
    assert (await follow_page(runtime, page.id)).status == "indexed"
    assert (await follow_page(runtime, elsewhere.id)).status == "indexed"
    [row] = await rows(database, page)
    assert row.model_name.startswith("openai-compatible:nomic@")
    assert row.model_dimensions == 24
    assert (await rows(database, elsewhere))[0].model_name == "all-MiniLM-L6-v2"
    [request] = stub.embeddings
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "nomic"
    assert "Annual leave" in request.body["input"][0]


@pytest.mark.req("PV-06", "PV-08")
async def test_two_workspaces_use_their_own_keys_at_the_same_time(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    pages = []
    for who, space in (("owner", "WIKI"), ("other", "OTHER")):
        await choose_embeddings(database, world.actor(who), url=stub.url, key=f"sk-key-of-{who}")
        pages.append(await make_page(database, world, who, f"By {who}.", by=who, space=space))
    await asyncio.gather(*(follow_page(runtime, page.id) for page in pages))
    assert {(r.headers["authorization"], r.body["input"][0]) for r in stub.embeddings} == {
        ("Bearer sk-key-of-owner", "owner\n\nBy owner."),
        ("Bearer sk-key-of-other", "other\n\nBy other."),
    }


@pytest.mark.req("PV-06", "PV-08")
async def test_a_change_of_key_or_address_counts_from_the_next_page_on(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    owner = world.actor("owner")
    await choose_embeddings(database, owner, url=stub.url, key="sk-first")
    page = await make_page(database, world, "Handbook", "One.")
    await follow_page(runtime, page.id)
    await choose_embeddings(database, owner, key="sk-second")
    await save_page(database, world, page.id, markdown="Two.")
    await follow_page(runtime, page.id)
    # Another driver, and back: its address and key are still there.
    await choose_embeddings(database, owner, driver="ollama", url=stub.url)
    await choose_embeddings(database, owner, driver="openai-compatible")
    await save_page(database, world, page.id, markdown="Three.")
    await follow_page(runtime, page.id)
    async with LlmStub() as another:
        await choose_embeddings(database, owner, url=another.url, key="sk-third")
        await follow_page(runtime, page.id)
        assert [r.headers["authorization"] for r in another.embeddings] == ["Bearer sk-third"]
    assert [r.headers["authorization"] for r in stub.embeddings] == [
        "Bearer sk-first",
        "Bearer sk-second",
        "Bearer sk-second",
    ]


async def test_a_provider_without_a_key_is_asked_without_one(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    await choose_embeddings(database, world.actor("owner"), driver="ollama", url=stub.url)
    page = await make_page(database, world, "Handbook", "Words.")
    assert (await follow_page(runtime, page.id)).status == "indexed"
    assert "authorization" not in stub.embeddings[0].headers


@pytest.mark.req("RA-07", "RG-10")
async def test_another_model_is_begun_at_nothing_and_ends_with_every_page_and_no_old_row(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    owner = world.actor("owner")
    await choose_embeddings(database, owner, model="first", url=stub.url)
    pages = [await make_page(database, world, f"Page {n}", f"Words {n}.") for n in range(3)]
    for page in pages:
        await follow_page(runtime, page.id)
    assert await progress(database, world) == (3, 3, False)
    assert await sweep(runtime) == []

    await choose_embeddings(database, owner, model="second")
    assert await progress(database, world) == (0, 3, True)
    seen = []
    for page_id in await sweep(runtime):
        await follow_page(runtime, page_id)
        seen.append(await progress(database, world))
    assert seen == [(1, 3, True), (2, 3, True), (3, 3, False)]
    assert await sweep(runtime) == []
    names = {row.model_name for page in pages for row in await rows(database, page)}
    assert len(names) == 1
    assert names.pop().startswith("openai-compatible:second@")
    assert sum([len(await rows(database, page)) for page in pages]) == 3


@pytest.mark.req("RA-07")
async def test_another_address_and_another_driver_are_another_model(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    owner = world.actor("owner")
    await choose_embeddings(database, owner, model="m", url=stub.url)
    page = await make_page(database, world, "Handbook", "Words.")
    await follow_page(runtime, page.id)
    async with LlmStub() as another:
        await choose_embeddings(database, owner, model="m", url=another.url)
        assert [result.status for result in await work_off(runtime)] == ["indexed"]
        await choose_embeddings(database, owner, driver="ollama", model="m", url=another.url)
        assert [result.status for result in await work_off(runtime)] == ["indexed"]
        assert len(another.embeddings) == 2
    await choose_embeddings(database, owner, driver="local", model="all-MiniLM-L6-v2")
    assert await progress(database, world) == (0, 1, True)
    assert [result.status for result in await work_off(runtime)] == ["indexed"]
    assert await progress(database, world) == (1, 1, False)
    assert len(await rows(database, page)) == 1


@pytest.mark.req("RA-05")
@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, "provider_auth", "refuses the key"),
        (402, "provider_quota", "quota is used up"),
        (403, "provider_auth", "refuses the key"),
    ],
)
async def test_a_refusal_ends_the_run_after_one_page_and_every_page_says_why(
    database: Database,
    world: World,
    runtime: Runtime,
    stub: LlmStub,
    status: int,
    code: str,
    words: str,
) -> None:
    stub.plays_embeddings(error(status, f"no: {KEY}"))
    await choose_embeddings(database, world.actor("owner"), url=stub.url, key=KEY)
    pages = [await make_page(database, world, f"Page {n}", "Words.") for n in range(4)]
    results = [await follow_page(runtime, page.id) for page in pages[:3]]
    assert {result.status for result in results} == {"failed"}
    assert len(stub.embeddings) == 1
    assert await sweep(runtime) == []  # the fourth waits too, and says why
    for page in pages:
        row = await index_row(database, page)
        assert row.state == "error"
        assert row.last_error is not None
        assert words in row.last_error
        assert KEY not in row.last_error
    assert await progress(database, world) == (0, 4, False)
    assert [(g.status, g.error_code) for g in await generations(database)] == [("error", code)]

    # After a while one page tries again …
    await let_pass(database, EMBED_REFUSED_SECONDS + 1)
    stub.plays_embeddings(error(status, "still no"))
    assert {result.status for result in await work_off(runtime)} == {"failed"}
    assert len(stub.embeddings) == 2
    # … and after a change of the settings all do, at once.
    await choose_embeddings(database, world.actor("owner"), key="sk-another")
    assert [result.status for result in await work_off(runtime)] == ["indexed"] * 4
    assert await progress(database, world) == (4, 4, False)


@pytest.mark.req("RA-05")
async def test_one_page_that_fails_does_not_keep_the_others(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    bad = await make_page(database, world, "Bad", "Words.")
    good = [await make_page(database, world, f"Page {n}", "Words.") for n in range(5)]
    stub.plays_embeddings(*[error(500, "oops")] * 4)
    assert (await follow_page(runtime, bad.id)).status == "failed"
    for page in good:
        assert (await follow_page(runtime, page.id)).status == "indexed"
    assert await progress(database, world) == (5, 6, False)
    await let_pass(database, 1_000)
    assert [result.status for result in await work_off(runtime)] == ["indexed"]
    assert len(await rows(database, bad)) == 1  # nothing doubled


@pytest.mark.req("RA-05")
async def test_a_provider_that_fails_again_and_again_gets_a_pause(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    pages = [await make_page(database, world, f"Page {n}", "Words.") for n in range(6)]
    stub.plays_embeddings(*[error(503, "busy")] * 4 * EMBED_FAILED_RUNS)
    for page in pages:
        assert (await follow_page(runtime, page.id)).status == "failed"
    assert len(stub.embeddings) == 4 * EMBED_FAILED_RUNS
    await let_pass(database, EMBED_FAILED_SECONDS + 1)
    assert [result.status for result in await work_off(runtime)] == ["indexed"] * 6


async def test_while_something_is_missing_nothing_is_asked_and_pages_say_what(
    database: Database, world: World, runtime: Runtime
) -> None:
    owner = world.actor("owner")
    await choose_embeddings(database, owner, driver="ollama", model="m")
    page = await make_page(database, world, "Handbook", "Words.")
    assert (await follow_page(runtime, page.id)).status == "failed"
    assert "needs a base URL" in str((await index_row(database, page)).last_error)
    late = await make_page(database, world, "Late", "Words.")
    await let_pass(database, 1_000)
    assert await sweep(runtime) == []
    assert "needs a base URL" in str((await index_row(database, late)).last_error)
    assert await progress(database, world) == (0, 2, False)
    assert await generations(database) == []


async def test_a_trashed_page_loses_its_chunks_though_nothing_can_be_embedded(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    owner = world.actor("owner")
    await choose_embeddings(database, owner, url=stub.url)
    page = await make_page(database, world, "Handbook", "Words.")
    await follow_page(runtime, page.id)
    await choose_embeddings(database, owner, driver="ollama")
    await put_in_trash(database, world, page.id)
    await let_pass(database, 1_000)
    assert [result.status for result in await work_off(runtime)] == ["removed"]
    assert await rows(database, page) == []


@pytest.mark.req("MN-05")
async def test_an_indexing_run_is_one_row_of_the_account_with_its_tokens_and_cost(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    workspace_id = await choose_embeddings(
        database, world.actor("owner"), model="nomic", url=stub.url
    )
    async with database.session() as session:
        session.add(
            CatalogueModel(
                workspace_id=workspace_id,
                driver="openai-compatible",
                model="nomic",
                input_price=Decimal("2"),
            )
        )
    text = "\n\n".join(f"Words of part{n}. " * 60 for n in range(40))
    page = await make_page(database, world, "Handbook", text)
    result = await follow_page(runtime, page.id)
    assert len(stub.embeddings) > 1
    [row] = await generations(database)
    assert (row.object, row.type, row.driver, row.model) == (
        "page",
        "embedding",
        "openai-compatible",
        "nomic",
    )
    assert (row.status, row.error_code, row.workspace_id) == ("success", None, workspace_id)
    assert row.input_tokens > result.embedded
    assert row.cost_in_cents == Decimal(row.input_tokens) * 2 / 10_000
    assert row.time_ms is not None
    # Nothing new to embed, nothing to account for.
    assert (await follow_page(runtime, page.id)).status == "current"
    assert len(await generations(database)) == 1


@pytest.mark.req("MN-05")
async def test_a_run_that_is_cut_off_is_closed_in_the_account(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    stub.plays_embeddings(Reply(200, [Gate()], {}, "application/json"))
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    page = await make_page(database, world, "Handbook", "Words.")
    task = asyncio.create_task(follow_page(runtime, page.id))
    await stub.until(lambda: stub.embeddings)
    assert [row.status for row in await generations(database)] == ["pending"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(g.status, g.error_code) for g in await generations(database)] == [
        ("error", "cancelled")
    ]


async def test_a_burst_of_tasks_for_one_page_is_one_run_at_a_time_and_one_bill(
    database: Database, world: World, runtime: Runtime, stub: LlmStub
) -> None:
    gate = Gate()
    plain = json_reply({"data": [{"embedding": [1.0]}]})
    stub.plays_embeddings(Reply(200, [gate, *plain.body], {}, plain.content_type))
    await choose_embeddings(database, world.actor("owner"), url=stub.url)
    page = await make_page(database, world, "Diary", "First words.")
    first = asyncio.create_task(follow_page(runtime, page.id))
    await stub.until(lambda: stub.embeddings)
    await save_page(database, world, page.id, markdown="Last words.")
    later = [await follow_page(runtime, page.id) for _ in range(3)]
    assert {result.status for result in later} == {"superseded"}
    gate.open()
    assert (await first).status in ("indexed", "current")
    [row] = await rows(database, page)
    assert "Last words." in row.content
    assert [request.body["input"] for request in stub.embeddings] == [
        ["Diary\n\nFirst words."],
        ["Diary\n\nLast words."],
    ]
    assert await progress(database, world) == (1, 1, False)
