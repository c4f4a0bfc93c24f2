"""One subscriber for all readers: nobody's leaving costs another one events."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from redis.asyncio import Redis

from api.stream.hub import Hub, Reader, Signal
from shared.bus import events
from shared.bus.stream import EventStream
from shared.chat.contexts import get_context
from shared.chat.sending import accept
from shared.chat.storing import Send
from shared.core.db import Database
from shared.core.redis import make_redis
from shared.core.secrets import SecretBox
from shared.core.settings import get_settings
from shared.core.tunables import READER_QUEUE_SIZE
from tests.factories.world import World


@pytest.fixture
async def hub(database: Database) -> AsyncIterator[Hub]:
    subscriber = make_redis(get_settings(), blocking=True)
    running = Hub(database, subscriber)
    await running.start()
    yield running
    await running.stop()
    await subscriber.aclose()


async def next_events(reader: Reader) -> list[tuple[int, bytes]]:
    async with asyncio.timeout(5):
        while True:
            item = await reader.queue.get()
            if not isinstance(item, Signal):
                return item


@pytest.fixture
async def turn(database: Database, world: World, redis: "Redis") -> UUID:
    """A queued turn of the writer's, whose first attempt may write events."""
    async with database.session() as session:
        send = Send(trigger="submit-message", text="Q")
        box = SecretBox(get_settings().require_app_secret())
        accepted = await accept(session, world.actor("writer"), get_context("tenant"), send, box)
    await EventStream(redis, ttl_seconds=60).raise_fence(accepted.id, 1)
    return accepted.id


async def test_a_newcomer_hears_what_is_said_while_another_reader_leaves(
    hub: Hub, redis: "Redis", world: World, turn: UUID
) -> None:
    stream = EventStream(redis, ttl_seconds=60)
    session_id = world.sessions["writer"]

    async def come_and_go(here: asyncio.Event) -> None:
        async with hub.follow(turn, session_id):
            here.set()

    for seq in range(1, 200):
        here = asyncio.Event()
        leaving = asyncio.create_task(come_and_go(here))
        await here.wait()
        async with hub.follow(turn, session_id) as reader:
            await leaving
            await stream.append(turn, 1, [(seq, events.encode(events.StartStep()))])
            assert (await next_events(reader))[0][0] == seq
    assert hub.reader_count == 0


async def test_a_reader_that_stalls_is_dropped_and_the_others_go_on(
    hub: Hub, redis: "Redis", world: World, turn: UUID
) -> None:
    stream = EventStream(redis, ttl_seconds=60)
    session_id = world.sessions["writer"]
    last = READER_QUEUE_SIZE + 50
    async with hub.follow(turn, session_id) as stalled, hub.follow(turn, session_id) as quick:

        async def hear() -> int:
            while True:
                heard = (await next_events(quick))[-1][0]
                if heard == last:
                    return heard

        hearing = asyncio.create_task(hear())
        for seq in range(1, last + 1):
            await stream.append(turn, 1, [(seq, events.encode(events.StartStep()))])
        assert await hearing == last
        assert stalled.dropped
        assert stalled.queue.get_nowait() is Signal.END
        assert not quick.dropped
