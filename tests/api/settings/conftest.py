"""People who change settings, a provider to call, and a worker that calls it."""

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

import httpx2
import orjson
import pytest
from redis.asyncio import Redis

from shared.bus.jobs import TestProvider as ProbeJob
from shared.core.settings import get_settings
from shared.core.tasks import end
from tests.api.settings.admin import Admin
from tests.factories.world import World
from tests.fakes.llm_stub import LlmStub
from workers.llm.probing import answer_probe
from workers.runtime import Runtime


@pytest.fixture
def owner(client: httpx2.AsyncClient, world: World) -> Admin:
    return Admin(client, world.headers("owner"))


@pytest.fixture
def writer(client: httpx2.AsyncClient, world: World) -> Admin:
    return Admin(client, world.headers("writer"))


@pytest.fixture(autouse=True)
def _private_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stub is on loopback."""
    monkeypatch.setattr(get_settings(), "private_models", True)


@pytest.fixture
async def stub() -> AsyncIterator[LlmStub]:
    async with LlmStub() as stub:
        yield stub


@dataclass
class Worker:
    """Does the work of the rpc queue; `messages` are the queue's own bytes."""

    runtime: Runtime
    messages: list[bytes] = field(default_factory=list)

    async def serve(self) -> None:
        while True:
            popped = await self.runtime.redis.blpop([ProbeJob.queue], timeout=1)
            if popped is None:
                continue
            self.messages.append(popped[1])  # type: ignore[arg-type]
            message = orjson.loads(popped[1])
            if message["headers"]["task"] != ProbeJob.name:
                continue
            _, kwargs, _ = orjson.loads(base64.b64decode(message["body"]))
            await answer_probe(self.runtime, UUID(kwargs["request_id"]))


@pytest.fixture
async def worker(redis: "Redis", database: object) -> AsyncIterator[Worker]:
    worker = Worker(Runtime(get_settings()))
    serving = asyncio.create_task(worker.serve())
    yield worker
    await end(serving)
    await worker.runtime.close()
