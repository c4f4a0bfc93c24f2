"""`GET /v1/search`: words at once, meaning when a worker answers, one's own pages only."""

import asyncio

import httpx2
import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy import select

from shared.core.db import Database
from shared.core.secrets import SecretBox
from shared.core.settings import get_settings
from shared.providers.models import RpcRequest
from shared.search.query_vector import answer_request, take_request
from tests.factories.saved_pages import make_page
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from workers.indexing.indexer import index_page


async def get(
    client: httpx2.AsyncClient, world: World, who: str = "reader", **params: object
) -> httpx2.Response:
    return await client.get("/v1/search", params=params, headers=world.headers(who))


async def work_once(database: Database, redis: "Redis", embedder: FakeEmbedder) -> None:
    """What the worker does for the next request."""
    box = SecretBox(get_settings().require_app_secret())
    async with asyncio.timeout(5):
        while True:
            async with database.session() as session:
                request_id = await session.scalar(select(RpcRequest.id))
            if request_id is not None:
                break
            await asyncio.sleep(0.005)
    request = await take_request(database, box, request_id)
    assert request is not None
    await answer_request(redis, request_id, embedder.name, embedder.vector(request[1]))


async def test_without_a_worker_it_answers_by_words_and_says_so(
    client: httpx2.AsyncClient, database: Database, world: World
) -> None:
    page = await make_page(database, world, "Leave types", "Annual leave is requested early.")
    answer = await get(client, world, q="annual leave")
    assert answer.status_code == 200
    body = answer.json()
    assert body["mode"] == "text"
    assert "words only" in body["note"]
    (item,) = body["items"]
    assert item["pageId"] == str(page.id)
    assert item["spaceName"] == "Wiki"
    assert item["url"].startswith("/s/wiki/p/leave-types-")
    assert "Annual leave" in item["snippet"]


@pytest.mark.req("RA-06")
async def test_with_a_worker_it_finds_by_meaning(
    app: FastAPI, client: httpx2.AsyncClient, database: Database, redis: "Redis", world: World
) -> None:
    settings = app.state.settings  # a busy machine may take its time
    app.state.settings = settings.model_copy(update={"search_vector_seconds": 10.0})
    embedder = FakeEmbedder()
    page = await make_page(database, world, "Absence", "How to take leave.")
    await index_page(database, embedder, page.id)
    worker = asyncio.create_task(work_once(database, redis, embedder))
    body = (await get(client, world, q="vacation")).json()
    await worker
    assert (body["mode"], body["note"]) == ("hybrid", None)
    assert [item["title"] for item in body["items"]] == ["Absence"]


@pytest.mark.req("TR-01")
async def test_only_readable_pages_are_answered(
    client: httpx2.AsyncClient, database: Database, world: World
) -> None:
    await make_page(database, world, "Open one", "The zebra walks.")
    await make_page(database, world, "Open two", "The zebra runs.")
    await make_page(database, world, "Hidden", "The zebra hides.", space="PRIV")
    items = (await get(client, world, q="zebra")).json()["items"]
    assert {item["title"] for item in items} == {"Open one", "Open two"}
    assert len((await get(client, world, q="zebra", limit=1)).json()["items"]) == 1
    assert (await get(client, world, "outsider", q="zebra")).json()["items"] == []
    hidden = await get(client, world, q="zebra", spaceId=str(world.space("PRIV")))
    assert hidden.status_code == 404


@pytest.mark.parametrize("query", ["", "   ", "!?", "👍"])
async def test_a_query_without_words_is_an_empty_answer(
    client: httpx2.AsyncClient, world: World, query: str
) -> None:
    answer = await get(client, world, q=query)
    assert answer.status_code == 200
    assert answer.json()["items"] == []


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"q": "x" * 1_001},
        {"q": "a", "limit": 0},
        {"q": "a", "limit": 51},
        {"q": "a", "spaceId": "x"},
    ],
)
async def test_a_bad_request_is_a_clear_error(
    client: httpx2.AsyncClient, world: World, params: dict[str, object]
) -> None:
    answer = await get(client, world, **params)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_input"


async def test_signs_and_nul_in_a_query_do_no_harm(
    client: httpx2.AsyncClient, world: World
) -> None:
    for query in ("'; DROP TABLE pages; --", "a:* & (b", "\0nul\0", "\\"):
        assert (await get(client, world, q=query)).status_code == 200


async def test_nobody_searches_without_signing_in(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/v1/search", params={"q": "a"})).status_code == 401
