"""Signs of life: by the clock that all processes share."""

import asyncio
import time

import pytest
from redis.asyncio import Redis

from shared.core import liveness
from shared.core.liveness import alive, beat_forever
from shared.core.tasks import end


@pytest.mark.parametrize("minutes", [10, -10])
async def test_a_worker_with_a_wrong_clock_counts_and_removes_no_other(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    monkeypatch.setattr(liveness, "ALIVE_BEAT_SECONDS", 0.01)
    right = time.time

    async def beats(member: str, skew: float) -> None:
        """One process says that it is there, by its own idea of the time."""
        monkeypatch.setattr(time, "time", lambda: right() + skew)
        task = asyncio.create_task(beat_forever(redis, "chat", member))
        async with asyncio.timeout(5):
            for _ in range(2):  # what the first beat wrote, the second must bear
                while not await redis.zrem("pt:alive:chat", member):
                    await asyncio.sleep(0.005)
            while await redis.zscore("pt:alive:chat", member) is None:
                await asyncio.sleep(0.005)
        await end(task)
        monkeypatch.setattr(time, "time", right)

    await beats("right", 0)
    await beats("skewed", minutes * 60)
    assert await alive(redis, "chat") == 2
    monkeypatch.setattr(time, "time", lambda: right() + minutes * 60)
    assert await alive(redis, "chat") == 2  # a skewed API sees them too


async def test_who_says_nothing_any_more_falls_out(redis: Redis) -> None:
    await redis.zadd("pt:alive:chat", {"gone": time.time() - 60, "here": time.time()})
    assert await alive(redis, "chat") == 1
    beat = asyncio.create_task(beat_forever(redis, "chat", "new"))
    async with asyncio.timeout(5):
        while await redis.zscore("pt:alive:chat", "gone") is not None:
            await asyncio.sleep(0.01)
    await end(beat)
    assert await alive(redis, "chat") == 2
