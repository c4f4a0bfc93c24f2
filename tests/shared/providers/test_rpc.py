"""A call from the API to a worker: sealed on the way, taken once, answered or given up."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from uuid import UUID

import orjson
import pytest
from redis.asyncio import Redis
from sqlalchemy import func, select, text, update

from shared.bus.jobs import TestProvider as ProbeJob
from shared.bus.jobs import drain
from shared.core.db import Database
from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.core.tunables import RPC_ROW_SECONDS
from shared.providers import rpc
from shared.providers.models import RpcRequest
from tests.factories.world import World

BOX = SecretBox(b"x" * 32)
CANARY = b"canary-7f3a plumage"


async def waiting(database: Database) -> RpcRequest:
    """The request that is waiting for a worker."""
    async with asyncio.timeout(5):
        while True:
            async with database.session() as session:
                found = await session.scalar(select(RpcRequest))
            if found is not None:
                return found
            await asyncio.sleep(0.005)


@pytest.fixture
async def asking(
    database: Database, redis: "Redis", world: World
) -> AsyncIterator["asyncio.Task[bytes | None]"]:
    task = asyncio.create_task(
        rpc.ask(database, redis, BOX, ProbeJob, world.workspace_id, CANARY, wait_seconds=10)
    )
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_the_answer_of_a_worker_comes_back(
    database: Database, redis: "Redis", world: World, asking: "asyncio.Task[bytes | None]"
) -> None:
    request = await waiting(database)
    taken = await rpc.take(database, BOX, request.id)
    assert taken == rpc.Taken(world.workspace_id, CANARY)
    await rpc.answer(redis, request.id, b"done")
    assert await asking == b"done"


async def test_an_answer_that_takes_longer_than_one_look_still_comes(
    database: Database,
    redis: "Redis",
    asking: "asyncio.Task[bytes | None]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc, "RPC_LOOK_SECONDS", 0.05)
    request = await waiting(database)
    looks = (await redis.info("commandstats")).get("cmdstat_blpop", {}).get("calls", 0)
    async with asyncio.timeout(10):
        while (await redis.info("commandstats"))["cmdstat_blpop"]["calls"] < looks + 3:
            await asyncio.sleep(0.01)
    await rpc.answer(redis, request.id, b"late")
    assert await asking == b"late"


async def test_without_a_worker_the_wait_ends(
    database: Database, redis: "Redis", world: World
) -> None:
    begun = time.monotonic()
    answer = await rpc.ask(
        database, redis, BOX, ProbeJob, world.workspace_id, CANARY, wait_seconds=0.2
    )
    assert answer is None
    assert time.monotonic() - begun < 2


async def test_a_request_is_taken_once_by_whoever_comes_first(
    database: Database, asking: "asyncio.Task[bytes | None]"
) -> None:
    request = await waiting(database)
    taken = await asyncio.gather(*(rpc.take(database, BOX, request.id) for _ in range(4)))
    assert sorted(one is None for one in taken) == [False, True, True, True]


async def test_a_request_that_nobody_waits_for_any_more_cannot_be_taken(
    database: Database, redis: "Redis", world: World
) -> None:
    await rpc.ask(
        database,
        redis,
        BOX,
        ProbeJob,
        world.workspace_id,
        CANARY,
        wait_seconds=0.05,
        life_seconds=30,
    )
    request = await waiting(database)
    async with database.session() as session:
        left = await session.scalar(
            select(func.extract("epoch", RpcRequest.expires_at - func.now()))
        )
        past = func.now() - text("interval '1 second'")
        await session.execute(update(RpcRequest).values(expires_at=past))
    assert left is not None
    assert 20 < left <= 30
    assert await rpc.take(database, BOX, request.id) is None


async def test_a_request_moved_to_another_workspace_or_read_with_another_secret_is_unreadable(
    database: Database, world: World, asking: "asyncio.Task[bytes | None]"
) -> None:
    request = await waiting(database)
    async with database.session() as session:
        await session.execute(update(RpcRequest).values(workspace_id=world.other_workspace_id))
    with pytest.raises(UnreadableSecretError):
        await rpc.take(database, BOX, request.id)


async def test_another_secret_reads_nothing(
    database: Database, asking: "asyncio.Task[bytes | None]"
) -> None:
    request = await waiting(database)
    with pytest.raises(UnreadableSecretError):
        await rpc.take(database, SecretBox(b"y" * 32), request.id)


async def test_the_payload_is_neither_in_the_row_nor_in_the_message(
    database: Database, redis: "Redis", asking: "asyncio.Task[bytes | None]"
) -> None:
    request = await waiting(database)
    assert CANARY not in request.sealed
    await drain()
    [message] = await redis.lrange(ProbeJob.queue, 0, -1)  # type: ignore[misc]
    envelope = orjson.loads(message)
    args, kwargs, _ = orjson.loads(base64.b64decode(envelope["body"]))
    assert envelope["headers"]["task"] == ProbeJob.name
    assert (args, kwargs) == ([], {"request_id": str(request.id)})


async def test_an_answer_that_nobody_takes_expires(redis: "Redis") -> None:
    request_id = UUID(int=7)
    await rpc.answer(redis, request_id, b"done")
    assert 0 < await redis.ttl(f"pt:rpc:{request_id}") <= RPC_ROW_SECONDS
