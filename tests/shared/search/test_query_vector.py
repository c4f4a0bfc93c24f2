"""A query's vector comes from a worker, and its text is nowhere on the way."""

import asyncio

import pytest
from redis.asyncio import Redis
from sqlalchemy import func, select, text, update

from shared.bus.jobs import drain
from shared.core.db import Database
from shared.core.secrets import SecretBox
from shared.providers.models import RpcRequest
from shared.search.query_vector import answer_request, query_vector, take_request
from shared.search.vectors import QueryVector
from tests.factories.world import World

CANARY = "canary-7f3a plumage"
BOX = SecretBox(b"x" * 32)


async def requests(database: Database) -> list[RpcRequest]:
    async with database.session() as session:
        return list(await session.scalars(select(RpcRequest)))


async def one_request(database: Database) -> RpcRequest:
    async with asyncio.timeout(5):
        while not (found := await requests(database)):
            await asyncio.sleep(0.005)
    return found[0]


async def ask(
    database: Database, redis: "Redis", world: World, *, wait_seconds: float = 10
) -> QueryVector | None:
    return await query_vector(
        database, redis, BOX, world.workspace_id, CANARY, wait_seconds=wait_seconds
    )


async def test_the_vector_that_a_worker_answers_comes_back(
    database: Database, redis: "Redis", world: World
) -> None:
    asking = asyncio.create_task(ask(database, redis, world))
    request = await one_request(database)
    assert await take_request(database, BOX, request.id) == (world.workspace_id, CANARY)
    await answer_request(redis, request.id, "fake", [0.5, -0.25])
    assert await asking == QueryVector("fake", [0.5, -0.25])


async def test_without_a_worker_the_wait_is_short(
    database: Database, redis: "Redis", world: World
) -> None:
    async with asyncio.timeout(8):
        assert await ask(database, redis, world, wait_seconds=0.05) is None


async def test_a_worker_without_a_model_ends_the_wait(
    database: Database, redis: "Redis", world: World
) -> None:
    asking = asyncio.create_task(ask(database, redis, world))
    await answer_request(redis, (await one_request(database)).id, None, ())
    assert await asking is None


async def test_the_text_is_neither_in_the_row_nor_in_redis(
    database: Database, redis: "Redis", world: World
) -> None:
    asking = asyncio.create_task(ask(database, redis, world))
    request = await one_request(database)
    assert CANARY.encode() not in request.sealed
    await answer_request(redis, request.id, "fake", [1.0])
    await asking
    await drain()
    for key in await redis.keys("*"):
        kind = await redis.type(key)
        if kind == b"list":
            assert CANARY.encode() not in b"".join(await redis.lrange(key, 0, -1))  # type: ignore[misc]


async def test_a_request_is_taken_once_and_not_after_its_time(
    database: Database, redis: "Redis", world: World
) -> None:
    await ask(database, redis, world)
    request = await one_request(database)
    assert await take_request(database, BOX, request.id) == (world.workspace_id, CANARY)
    assert await take_request(database, BOX, request.id) is None
    await ask(database, redis, world)
    late = await one_request(database)
    async with database.session() as session:
        past = func.now() - text("interval '1 second'")
        await session.execute(update(RpcRequest).values(expires_at=past))
    assert await take_request(database, BOX, late.id) is None


@pytest.mark.parametrize("seconds", [60])
async def test_an_answer_that_nobody_takes_expires(
    database: Database, redis: "Redis", world: World, seconds: int
) -> None:
    await ask(database, redis, world)
    request = await one_request(database)
    await answer_request(redis, request.id, "fake", [1.0])
    assert 0 < await redis.ttl(f"pt:rpc:{request.id}") <= seconds
