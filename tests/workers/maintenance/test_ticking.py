"""The clock's ticks, in a heap and under wrong clocks."""

import asyncio

from redis.asyncio import Redis

from shared.bus.jobs import FollowIndex, SweepExpired
from workers.app import app
from workers.maintenance.ticking import due


def test_no_worker_can_take_a_tick_for_an_old_one_whatever_its_clock_says() -> None:
    assert app.conf.beat_schedule
    for entry in app.conf.beat_schedule.values():
        options = {name: value for name, value in entry["options"].items() if name != "queue"}
        message = app.amqp.as_task_v2("an-id", entry["task"], **options)
        assert message.headers["expires"] is None
        assert message.headers["eta"] is None


async def test_a_pile_of_ticks_does_the_work_of_one(redis: Redis) -> None:
    followed = [await due(redis, FollowIndex, 60) for _ in range(200)]
    assert followed == [True] + [False] * 199
    assert await due(redis, SweepExpired, 60)


async def test_the_next_tick_of_a_clock_that_jitters_is_followed(redis: Redis) -> None:
    assert await due(redis, FollowIndex, 1)
    assert not await due(redis, FollowIndex, 1)
    begun = asyncio.get_running_loop().time()
    async with asyncio.timeout(5):
        while not await due(redis, FollowIndex, 1):
            await asyncio.sleep(0.005)
    assert asyncio.get_running_loop().time() - begun < 1
