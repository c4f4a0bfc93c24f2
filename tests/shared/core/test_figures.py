"""Figures that several processes count together."""

import asyncio

import pytest
from redis.asyncio import Redis

from shared.core import figures
from shared.core.figures import FIGURES_KEY, Figures, counted
from shared.core.redis import make_redis
from shared.core.settings import get_settings
from shared.core.tunables import RECOVERY_BUCKETS

INFINITY = float("inf")


async def test_the_sums_of_two_processes_are_one_sum(redis: Redis) -> None:
    one, other = Figures(redis), Figures(redis)
    for number in (1, 1, 2, 99):
        one.attempt(number)
    other.attempt(1)
    other.lease_expired(2)
    one.lease_expired(0)
    one.recovered(0.3)
    other.recovered(11.5)
    other.recovered(5_000)
    await one.close()
    await other.close()
    sums = counted(await redis.hgetall(FIGURES_KEY))
    assert sums.attempts == {1: 3, 2: 1, 3: 1}
    assert sums.lease_expiries == 2
    assert list(sums.recoveries) == [*RECOVERY_BUCKETS, INFINITY]
    assert sums.recoveries[1.0] == 1
    assert sums.recoveries[10.0] == 1
    assert sums.recoveries[12.0] == 2
    assert sums.recoveries[INFINITY] == 3
    assert sums.recovery_seconds == pytest.approx(5_011.8)


async def test_without_redis_counting_does_not_wait_and_what_was_counted_comes_later(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES_PAUSE_SECONDS", 0.01)
    away = Redis.from_url("redis://127.0.0.1:1/0")
    ours = Figures(away)
    begun = asyncio.get_running_loop().time()
    for _ in range(1_000):
        ours.attempt(1)
    assert asyncio.get_running_loop().time() - begun < 0.5
    await asyncio.sleep(0)  # the writer meets the dead Redis
    ours._redis = make_redis(get_settings())
    async with asyncio.timeout(5):
        while not await redis.exists(FIGURES_KEY):
            await asyncio.sleep(0.01)
    assert counted(await redis.hgetall(FIGURES_KEY)).attempts[1] == 1_000
    await ours._redis.aclose()
    await away.aclose()


async def test_a_process_that_ends_does_not_wait_for_a_dead_redis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "FIGURES_CLOSE_SECONDS", 0.05)
    away = Redis.from_url("redis://127.0.0.1:1/0")
    ours = Figures(away)
    ours.lease_expired()
    async with asyncio.timeout(2):
        await ours.close()
    await away.aclose()


def test_bounds_of_another_version_count_in_the_next_ones() -> None:
    sums = counted({b"recovery:le:7": b"2", b"recovery:le:inf": b"1", b"unknown": b"4"})
    assert sums.recoveries[6.0] == 0
    assert sums.recoveries[8.0] == 2
    assert sums.recoveries[INFINITY] == 3
