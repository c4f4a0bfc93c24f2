"""A worker of the version before meets a job that only the next version knows."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import ClassVar
from uuid import UUID

import pytest
from redis.asyncio import Redis
from sqlalchemy import func, select

from shared.bus.jobs import Job, SweepExpired, publish
from shared.core.db import Database
from shared.core.ids import new_id
from shared.providers.models import RpcRequest
from tests.factories.world import World
from tests.fakes.worker import running_worker

pytestmark = pytest.mark.slow


class NextVersionsJob(Job):
    """Nobody has a task for it."""

    name: ClassVar[str] = "maintenance.of_the_next_version"
    queue = "maintenance"
    page_id: UUID


@pytest.fixture
def log(world: World) -> Iterator[Callable[[], str]]:
    """What an index worker that runs has logged."""
    with running_worker("worker-index") as worker:
        yield worker.log
        assert worker.process.poll() is None, "it has ended"


async def test_it_is_dropped_and_told_and_the_worker_goes_on_with_the_next_one(
    log: Callable[[], str], database: Database, redis: Redis, world: World
) -> None:
    async with database.session() as session:
        session.add(
            RpcRequest(
                workspace_id=world.workspace_id,
                sealed=b"x",
                expires_at=datetime.now(UTC) - timedelta(minutes=1),
            )
        )
    unknown = NextVersionsJob(page_id=new_id())
    publish(unknown)
    publish(SweepExpired())  # behind it in the same queue

    async def done() -> bool:
        async with database.session() as session:
            rows = await session.scalar(select(func.count()).select_from(RpcRequest))
        return rows == 0 and await redis.llen("maintenance") == await redis.hlen("unacked") == 0

    async with asyncio.timeout(30):
        while not await done():
            await asyncio.sleep(0.05)
    assert f"unregistered task of type '{unknown.name}'" in log()
