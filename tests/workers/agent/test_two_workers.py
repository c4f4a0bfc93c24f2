"""Two worker processes, and a person, at the same pages."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import orjson
import pytest

from shared.bus.jobs import drain
from shared.core.settings import get_settings
from shared.wiki import service
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from tests.workers.agent.test_edit_tools import edit, history, make_page, markdown_of
from workers.runtime import Runtime


@pytest.fixture
async def other(stage: Stage) -> AsyncIterator[Stage]:
    """Another worker process: clients, caches and leases of its own."""
    runtime = Runtime(get_settings())
    yield Stage(runtime)
    await runtime.close()


@pytest.mark.req("RG-08")
async def test_two_workers_that_alternate_see_each_others_writes_and_lose_none(
    stage: Stage, other: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Log", "end")
    for number in range(10):
        worker = (stage, other)[number % 2]
        model = ScriptedModel([call(edit(page.id, "end", f"{number} end")), say("Done.")])
        await worker.ask(world.actor("writer"), "Go on", model, alias=f"chat-{number % 2}")
        assert model.requests[-1].messages[-1].is_error is False
    assert await markdown_of(stage, world, page.id) == "0 1 2 3 4 5 6 7 8 9 end"
    assert [row.version for row in await history(stage, page.id)] == list(range(1, 12))


@pytest.mark.req("RG-08")
async def test_two_workers_that_write_at_once_lose_none(
    stage: Stage, other: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Log", "a0 b0")

    async def work(worker: Stage, name: str, person: str) -> None:
        for number in range(5):
            change = edit(page.id, f"{name}{number}", f"{name}{number + 1}")
            await worker.ask(world.actor(person), "Q", ScriptedModel([call(change), say("Done.")]))

    await asyncio.gather(work(stage, "a", "writer"), work(other, "b", "owner"))
    assert await markdown_of(stage, world, page.id) == "a5 b5"
    assert [row.version for row in await history(stage, page.id)] == list(range(1, 12))


async def queued(stage: Stage, page_id: UUID) -> list[dict[str, Any]]:
    """The messages about a page that wait in the index's queue, oldest first."""
    await drain()
    raw = await stage.runtime.redis.lrange("index", 0, -1)
    messages = [orjson.loads(item) for item in reversed(raw)]
    return [m for m in messages if _arguments(m).get("page_id") == str(page_id)]


def _arguments(message: dict[str, Any]) -> dict[str, Any]:
    body = orjson.loads(base64.b64decode(message["body"]))
    arguments: dict[str, Any] = body[1]
    return arguments


@pytest.mark.req("RG-05")
async def test_the_agents_save_and_the_persons_are_jobs_of_their_own_and_one_save_is_one_job(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Log", "one")
    before = len(await queued(stage, page.id))
    writer = world.actor("writer")
    change = call(edit(page.id, "one", "two"))
    await stage.ask(writer, "Q", ScriptedModel([change, say("Done.")]))
    async with stage.database.session() as session:  # two saves in one transaction
        await service.update_page(session, writer, page.id, markdown="three")
        await service.update_page(session, writer, page.id, markdown="four")
    jobs = (await queued(stage, page.id))[before:]
    assert len(jobs) == 2
    ids = [job["headers"]["id"] for job in jobs]
    assert len({UUID(id_) for id_ in ids}) == 2
    assert {job["headers"]["task"] for job in jobs} == {"page.updated"}
    assert all(set(_arguments(job)) == {"page_id"} for job in jobs)
