"""Events leave in order, merged where that costs nobody anything, and never twice."""

import asyncio
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from shared.bus import events
from shared.bus.stream import Append, EventStream, epoch_base
from shared.chat.errors import LostLeaseError
from workers.agent.emitter import Emitter


async def holds() -> bool:
    return True


@pytest.fixture
def stream(redis: "Redis") -> EventStream:
    return EventStream(redis, ttl_seconds=60)


def kinds(entries: list[tuple[int, bytes]]) -> list[str]:
    return [events.kind(data) for _, data in entries]


async def test_events_are_numbered_without_gaps_and_deltas_of_a_part_merge(
    stream: EventStream,
) -> None:
    turn = uuid4()
    await stream.raise_fence(turn, 1)
    async with Emitter(stream, turn, 1, holds_lease=holds) as emitter:
        emitter.emit(events.StartStep(), events.TextStart("1.0"))
        for word in ("a", "b", "c"):
            emitter.emit(events.TextDelta("1.0", word))
        emitter.emit(events.TextEnd("1.0"))
        await emitter.drain()
        assert emitter.seq == 4
    entries = await stream.read(turn, 0)
    assert [seq for seq, _ in entries] == [1, 2, 3, 4]
    assert kinds(entries) == ["start-step", "text-start", "text-delta", "text-end"]
    assert b'"delta":"abc"' in entries[2][1]


async def test_a_later_epoch_fences_an_earlier_one(stream: EventStream) -> None:
    turn = uuid4()
    await stream.raise_fence(turn, 2)
    async with Emitter(stream, turn, 1, holds_lease=holds) as old:
        old.emit(events.StartStep())
        with pytest.raises(LostLeaseError):
            await old.drain()
    assert await stream.read(turn, 0) == []
    assert await stream.raise_fence(turn, 1) is False


async def test_a_flushed_redis_is_refilled_only_by_who_holds_the_lease(
    stream: EventStream, redis: "Redis"
) -> None:
    turn = uuid4()
    await stream.raise_fence(turn, 1)
    lease = {"held": True}

    async def checked() -> bool:
        return lease["held"]

    async with Emitter(stream, turn, 1, holds_lease=checked) as emitter:
        emitter.emit(events.StartStep())
        await emitter.drain()
        await redis.flushdb()
        emitter.emit(events.FinishStep())
        await emitter.drain()
        assert kinds(await stream.read(turn, 0)) == ["finish-step"]
        lease["held"] = False
        await redis.flushdb()
        emitter.emit(events.StartStep())
        with pytest.raises(LostLeaseError):
            await emitter.drain()
    assert await stream.read(turn, 0) == []


async def test_a_retried_append_adds_nothing_twice(stream: EventStream) -> None:
    turn = uuid4()
    await stream.raise_fence(turn, 1)
    batch = [(1, events.encode(events.StartStep())), (2, events.encode(events.FinishStep()))]
    assert await stream.append(turn, 1, batch) is Append.OK
    assert await stream.append(turn, 1, batch) is Append.OK
    assert len(await stream.read(turn, 0)) == 2


async def test_with_redis_away_a_drain_ends_and_readers_can_see_the_gap() -> None:
    away = Redis(host="127.0.0.1", port=1, socket_connect_timeout=0.1)
    stream = EventStream(away, ttl_seconds=60)
    async with Emitter(stream, UUID(int=1), 3, holds_lease=holds) as emitter:
        emitter.emit(events.StartStep())
        await asyncio.sleep(0)
        await emitter.drain(timeout=0.2)
        assert emitter.seq > epoch_base(3)
    await away.aclose()
