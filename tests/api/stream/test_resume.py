"""Readers that come back, leave for good, or stand still."""

import asyncio
from typing import Any

import httpx2
import pytest
from sqlalchemy import func, select, update

from api.stream import sse
from api.stream.sse import TurnResponse
from shared.chat.models import StopReason, Turn
from shared.core.db import Database
from shared.providers.models import AiSettings
from tests.api.stream.test_live import TENANT, Browser, ask, the_turn, until
from tests.fakes.scripted_model import Play, ScriptedModel, call, say
from tests.fakes.turns import Stage


class Playing:
    """A turn of two steps, held before its second half is said."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.said, self.go = asyncio.Event(), asyncio.Event()
        words = say("one ", "two ", "three ", "four")
        held: list[Play] = [*words[:2], self.said.set, self.go, *words[2:]]
        self.model = ScriptedModel([call(("listPages", {})), held])

    async def begin(self, database: Database) -> "asyncio.Task[None]":
        task = asyncio.create_task(self.stage.play(await the_turn(database), self.model))
        await asyncio.wait_for(self.said.wait(), 10)
        return task


async def asked(client: httpx2.AsyncClient, headers: dict[str, str]) -> Browser:
    browser = Browser()
    browser.task = browser.start(client, "POST", TENANT, json=ask("Q"), headers=headers)  # type: ignore[attr-defined]
    await asyncio.wait_for(browser.opened.wait(), 10)
    return browser


async def leave(browser: Any) -> None:
    browser.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await browser.task


async def test_a_reader_that_names_its_last_event_goes_on_after_it(
    live_client: Any, world: Any, stage: Stage, database: Database
) -> None:
    headers = world.headers("writer")
    browser = await asked(live_client, headers)
    playing = Playing(stage)
    task = await playing.begin(database)
    await until(lambda: "two" in str(browser.page.parts) and browser.page.ids[-1] > 0)
    await leave(browser)
    last = browser.page.ids[-1]
    again = Browser()
    again.page = browser.page  # goes on with what it has
    more = headers | {"Last-Event-ID": str(last)}
    following = again.start(live_client, "GET", f"{TENANT}/c/stream", headers=more)
    playing.go.set()
    await asyncio.wait_for(asyncio.gather(following, task), 20)
    page = again.page
    assert page.errors == []
    assert page.kinds().count("start") == 1
    assert page.kinds().count("finish") == 1
    numbered = [id_ for id_ in page.ids if id_]
    assert numbered == sorted(set(numbered))
    answer = await stage.answer(await the_turn(database))
    texts = [part["text"] for part in page.shown() if part["type"] == "text"]
    assert texts == [answer.content] == ["one two three four"]


@pytest.mark.parametrize("last", ["0", "999", "abc", "-1", "4294967297", "9" * 40, "١٢"])
async def test_a_number_that_cannot_be_gone_on_after_begins_anew(
    live_client: Any, world: Any, stage: Stage, database: Database, last: str
) -> None:
    headers = world.headers("writer")
    browser = await asked(live_client, headers)
    playing = Playing(stage)
    task = await playing.begin(database)
    await until(lambda: "two" in str(browser.page.parts))
    again = Browser()
    more = [(k.encode(), v.encode()) for k, v in headers.items()]
    more.append((b"last-event-id", last.encode()))
    following = again.start(live_client, "GET", f"{TENANT}/c/stream", headers=more)
    await asyncio.wait_for(again.opened.wait(), 10)
    playing.go.set()
    await asyncio.wait_for(asyncio.gather(following, task, browser.task), 20)  # type: ignore[attr-defined]
    assert again.page.kinds()[0] == "start"
    assert again.page.shown() == browser.page.shown()


async def test_after_a_flush_a_reader_that_names_its_last_event_begins_anew(
    live_client: Any, world: Any, stage: Stage, database: Database, redis: Any
) -> None:
    headers = world.headers("writer")
    browser = await asked(live_client, headers)
    playing = Playing(stage)
    task = await playing.begin(database)
    await until(lambda: "two" in str(browser.page.parts))
    await leave(browser)
    await redis.flushdb()
    again = Browser()
    more = headers | {"Last-Event-ID": str(browser.page.ids[-1])}
    following = again.start(live_client, "GET", f"{TENANT}/c/stream", headers=more)
    await asyncio.wait_for(again.opened.wait(), 10)
    playing.go.set()
    await asyncio.wait_for(asyncio.gather(following, task), 20)
    assert again.page.kinds()[0] == "start"
    texts = [part["text"] for part in again.page.shown() if part["type"] == "text"]
    assert texts == ["one two three four"]


async def test_who_asks_for_a_turn_whose_worker_is_long_gone_finds_it_settled(
    live_client: Any, world: Any, stage: Stage, database: Database
) -> None:
    headers = world.headers("writer")
    browser = await asked(live_client, headers)
    async with database.session() as session:
        await session.execute(update(Turn).values(attempts=3))
    gone = await live_client.get(f"{TENANT}/c/stream", headers=headers)
    assert gone.status_code == 204
    await asyncio.wait_for(browser.task, 10)  # type: ignore[attr-defined]
    assert browser.page.kinds()[-1] == "error"


async def change_policy(database: Database, **values: Any) -> None:
    async with database.session() as session:
        await session.execute(update(AiSettings).values(**values))


@pytest.mark.req("ST-04")
async def test_a_turn_goes_on_without_readers_unless_its_workspace_stops_it(
    live_client: Any, world: Any, stage: Stage, database: Database
) -> None:
    headers = world.headers("writer")
    browser = await asked(live_client, headers)
    playing = Playing(stage)
    task = await playing.begin(database)
    await leave(browser)
    await stage.sweep()
    playing.go.set()
    await asyncio.wait_for(task, 10)
    assert (await stage.answer(await the_turn(database))).content.endswith("four")


@pytest.mark.req("ST-04")
async def test_where_the_workspace_says_so_a_turn_without_readers_stops_after_the_grace(
    live_client: Any, world: Any, stage: Stage, database: Database
) -> None:
    await change_policy(database, on_disconnect="cancel", disconnect_grace_seconds=1)
    headers = world.headers("writer")
    browser = await asked(live_client, headers)
    hearing = asyncio.create_task(stage.keeper.hear_stops())
    task = await Playing(stage).begin(database)
    async with asyncio.timeout(10):  # longer than the grace: as long as it is followed it goes on
        while not await _older(database, 4.0):
            await stage.sweep()
            assert not task.done()
            await asyncio.sleep(0.1)
    await leave(browser)
    async with asyncio.timeout(15):
        while not task.done():
            await stage.sweep()
            await asyncio.sleep(0.1)
    hearing.cancel()
    turn = await stage.turn(await the_turn(database))
    assert (turn.status, turn.stop_reason) == ("aborted", StopReason.UNATTENDED)
    assert (await stage.answer(turn.id)).content == "one two "


async def _older(database: Database, seconds: float) -> bool:
    async with database.session() as session:
        age = func.extract("epoch", func.now() - Turn.created_at)
        return bool(await session.scalar(select(age > seconds)))


async def test_a_reader_that_stands_still_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "STALLED_READER_SECONDS", 0.05)
    closed = asyncio.Event()

    async def body() -> Any:
        try:
            while True:
                yield b"x"
        finally:
            closed.set()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()  # the socket takes nothing

    async def receive() -> Any:
        await asyncio.Event().wait()

    response = TurnResponse(body())
    scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
    await asyncio.wait_for(response(scope, receive, send), 5)
    del response
    await asyncio.wait_for(closed.wait(), 5)
