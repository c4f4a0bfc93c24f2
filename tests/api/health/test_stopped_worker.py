"""Workers and queues, as health checks and figures show them while a real worker comes and goes."""

import asyncio

import httpx2
import pytest
from redis.asyncio import Redis

from shared.bus.jobs import SweepExpired, publish
from tests.fakes.worker import running_worker

pytestmark = pytest.mark.slow


@pytest.mark.req("MN-07")
async def test_a_stopped_worker_is_red_and_its_queue_grows(
    client: httpx2.AsyncClient, redis: Redis
) -> None:
    async def told() -> tuple[str, str, str]:
        lines = (await client.get("/metrics")).text.splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return (
            (await client.get("/readyz")).json()["checks"]["indexWorker"],
            values['pageturn_workers{kind="index"}'],
            values['pageturn_queue_messages{queue="maintenance"}'],
        )

    async def wait_until(*wanted: str) -> None:
        async with asyncio.timeout(60):
            while await told() != wanted:
                await asyncio.sleep(0.1)

    publish(SweepExpired())
    assert await told() == ("missing", "0.0", "1.0")
    with running_worker("worker-index") as worker:
        await wait_until("ok", "1.0", "0.0")
        worker.stop()
        publish(SweepExpired())
        await wait_until("missing", "0.0", "1.0")
