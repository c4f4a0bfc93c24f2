"""Streams of a real server: silence, other requests beside them, hints, ended sessions."""

import asyncio
import time
from typing import Any
from uuid import UUID

import httpx2
import orjson
import pytest
from sqlalchemy import func, select, update

from shared.accounts.models import UserSession
from shared.chat.models import Turn
from shared.core.db import Database
from shared.core.settings import get_settings
from tests.fakes.installation import blocks
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from tests.fakes.ui_message import UiMessage

TENANT = "/v1/ai/chat/tenant"


def ask(text: str, chat: str = "c") -> dict[str, Any]:
    parts = [{"type": "text", "text": text}]
    return {"id": chat, "messages": [{"id": "m", "role": "user", "parts": parts}]}


class Browser:
    """Follows a stream in the background; `page` grows as it comes."""

    def __init__(self) -> None:
        self.page = UiMessage()
        self.pings = 0
        self.status = 0
        self.headers: Any = None
        self.opened = asyncio.Event()

    async def follow(self, client: httpx2.AsyncClient, method: str, url: str, **more: Any) -> None:
        async with client.stream(method, url, timeout=30, **more) as response:
            self.status, self.headers = response.status_code, response.headers
            rest = b""
            async for piece in response.aiter_bytes():
                rest += piece
                *whole, rest = rest.split(b"\n\n")
                for block in whole:
                    if block.startswith(b":"):
                        self.pings += 1
                    self.page.feed_bytes(block + b"\n\n")
                self.opened.set()

    def start(self, *args: Any, **more: Any) -> "asyncio.Task[None]":
        return asyncio.create_task(self.follow(*args, **more))


async def until(condition: Any, seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def the_turn(database: Database) -> UUID:
    async with database.session() as session:
        return (await session.scalars(select(Turn.id))).one()


@pytest.mark.req("CH-12")
async def test_two_tabs_see_the_same_turn_live_and_to_its_end(
    live_client: Any, world: Any, stage: Stage, database: Database
) -> None:
    headers = world.headers("writer")
    first, second = Browser(), Browser()
    one = first.start(live_client, "POST", TENANT, json=ask("Q"), headers=headers)
    await asyncio.wait_for(first.opened.wait(), 10)
    said, go = asyncio.Event(), asyncio.Event()
    step = say("one ", "two ", "three")
    model = ScriptedModel([call(("listPages", {})), [*step[:2], said.set, go, *step[2:]]])
    playing = asyncio.create_task(stage.play(await the_turn(database), model))
    await asyncio.wait_for(said.wait(), 10)
    await until(lambda: "two" in str(first.page.parts))
    two = second.start(live_client, "GET", f"{TENANT}/c/stream", headers=headers)
    await until(lambda: "two" in str(second.page.parts))
    go.set()
    await asyncio.wait_for(asyncio.gather(one, two, playing), 20)
    assert first.page.errors == second.page.errors == []
    assert first.page.shown() == second.page.shown()
    assert first.page.done
    assert second.page.done
    assert second.page.kinds()[0] == "start"
    answer = await stage.answer(await the_turn(database))
    assert [p.get("text") for p in first.page.shown()] == [p.get("text") for p in answer.parts]
    gone = await live_client.get(f"{TENANT}/c/stream", headers=headers)
    assert gone.status_code == 204


@pytest.mark.req("ST-03")
async def test_silence_is_filled_and_nothing_buffers(
    live_client: Any, world: Any, database: Database
) -> None:
    browser = Browser()
    following = browser.start(
        live_client, "POST", TENANT, json=ask("Q"), headers=world.headers("writer")
    )
    await until(lambda: browser.pings >= 2, 10)
    following.cancel()
    assert browser.headers["x-accel-buffering"] == "no"
    assert browser.headers["cache-control"] == "no-cache"
    assert "connection" not in browser.headers
    assert get_settings().__class__.model_fields["ping_seconds"].default <= 15


@pytest.mark.req("ST-13")
async def test_silent_streams_do_not_slow_other_requests(
    live_client: Any, world: Any, database: Database
) -> None:
    browsers = [Browser() for _ in range(20)]
    streams = [
        browser.start(
            live_client, "POST", TENANT, json=ask("Q", f"c{n}"), headers=world.headers("writer")
        )
        for n, browser in enumerate(browsers)
    ]
    await asyncio.wait_for(asyncio.gather(*(b.opened.wait() for b in browsers)), 20)
    times = []
    for _ in range(40):
        begun = time.perf_counter()
        assert (await live_client.get("/healthz")).status_code == 200
        times.append(time.perf_counter() - begun)
    assert sorted(times)[int(len(times) * 0.95)] < 0.2
    assert (await live_client.get("/v1/auth/me", headers=world.headers("writer"))).is_success
    for stream in streams:
        stream.cancel()


async def test_a_stop_from_another_tab_ends_both_and_keeps_the_text(
    live_client: Any, world: Any, stage: Stage, database: Database
) -> None:
    headers = world.headers("writer")
    browser = Browser()
    following = browser.start(live_client, "POST", TENANT, json=ask("Q"), headers=headers)
    await asyncio.wait_for(browser.opened.wait(), 10)
    hearing = asyncio.create_task(stage.keeper.hear_stops())
    said = asyncio.Event()
    model = ScriptedModel([[*say("kept")[:1], said.set, asyncio.Event()]])
    playing = asyncio.create_task(stage.play(await the_turn(database), model))
    await asyncio.wait_for(said.wait(), 10)
    begun = time.perf_counter()
    stopped = await live_client.post(f"{TENANT}/c/stop", headers=headers)
    assert stopped.json()["stopped"] is True
    await asyncio.wait_for(asyncio.gather(following, playing), 10)
    assert time.perf_counter() - begun < 2
    hearing.cancel()
    assert browser.page.kinds()[-2:] == ["abort", "finish"]
    assert (await stage.answer(await the_turn(database))).content == "kept"


async def test_a_stream_ends_soon_after_its_session(
    live_client: Any, world: Any, database: Database
) -> None:
    browser = Browser()
    following = browser.start(
        live_client, "POST", TENANT, json=ask("Q"), headers=world.headers("writer")
    )
    await asyncio.wait_for(browser.opened.wait(), 10)
    async with database.session() as session:
        await session.execute(
            update(UserSession)
            .where(UserSession.id == world.actor("writer").session_id)
            .values(revoked_at=func.now())
        )
    await asyncio.wait_for(following, 15)
    assert "finish" not in browser.page.kinds()


async def test_a_turn_that_ended_unheard_ends_the_stream_from_the_database(
    live_client: Any, world: Any, stage: Stage, database: Database, redis: Any
) -> None:
    browser = Browser()
    following = browser.start(
        live_client, "POST", TENANT, json=ask("Q"), headers=world.headers("writer")
    )
    await asyncio.wait_for(browser.opened.wait(), 10)
    turn_id = await the_turn(database)

    async def nothing(*_: Any, **__: Any) -> Any:
        from shared.bus.stream import Append

        return Append.OK

    stage.runtime.stream.append = nothing  # type: ignore[method-assign]
    await stage.play(turn_id, ScriptedModel([say("Said into the void.")]))
    await asyncio.wait_for(following, 10)
    assert browser.page.done
    assert browser.page.kinds()[-1] == "finish"
    assert "void" in str(browser.page.parts)


async def test_a_flushed_redis_costs_no_reader_the_answer(
    live_client: Any, world: Any, stage: Stage, database: Database, redis: Any
) -> None:
    browser = Browser()
    following = browser.start(
        live_client, "POST", TENANT, json=ask("Q"), headers=world.headers("writer")
    )
    await asyncio.wait_for(browser.opened.wait(), 10)
    said, go = asyncio.Event(), asyncio.Event()
    step = say("before ", "after")
    model = ScriptedModel([[*step[:1], said.set, go, *step[1:]]])
    playing = asyncio.create_task(stage.play(await the_turn(database), model))
    await asyncio.wait_for(said.wait(), 10)
    await until(lambda: "before" in str(browser.page.parts))
    await redis.flushdb()
    go.set()
    await asyncio.wait_for(asyncio.gather(following, playing), 20)
    assert browser.page.done
    assert [p["text"] for p in browser.page.parts if p["type"] == "text"] == ["before after"]


def test_blocks_are_found_in_arbitrary_pieces() -> None:
    data = b"".join(b"data: %s\n\n" % orjson.dumps({"type": str(n)}) for n in range(5))
    pieces = [data[i : i + 3] for i in range(0, len(data), 3)]
    assert b"".join(blocks(iter(pieces))) == data
