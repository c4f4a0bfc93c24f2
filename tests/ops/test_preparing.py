"""What is made ready before processes start, and what others that run do not feel of it."""

import asyncio

from redis.asyncio import Redis

from ops.preparing import prepare_alone, prepare_database
from shared.core.db import Database
from shared.core.liveness import alive
from shared.core.settings import get_settings


async def test_a_migration_leaves_the_signs_of_life_of_running_workers_alone(
    database: Database, redis: Redis
) -> None:
    now = (await redis.time())[0]
    await redis.zadd("pt:alive:chat", {"elsewhere": now})
    await asyncio.to_thread(prepare_database, get_settings())
    assert await alive(redis, "chat") == 1


async def test_who_starts_with_stores_of_its_own_takes_no_killed_worker_for_a_living_one(
    database: Database, redis: Redis
) -> None:
    now = (await redis.time())[0]
    await redis.zadd("pt:alive:chat", {"killed": now})
    await asyncio.to_thread(prepare_alone, get_settings())
    assert await alive(redis, "chat") == 0
