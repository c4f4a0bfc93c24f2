"""Signs of life: each worker process tells Redis that it is there, for /readyz."""

import asyncio
import time

from redis.asyncio import Redis
from redis.exceptions import RedisError

from shared.core.tunables import ALIVE_BEAT_SECONDS, ALIVE_SECONDS


def _key(kind: str) -> str:
    return f"pt:alive:{kind}"


async def beat_forever(redis: "Redis", kind: str, member: str) -> None:
    """Say "alive" every few seconds; old members fall out of the set."""
    while True:
        try:
            now = time.time()
            await redis.zadd(_key(kind), {member: now})
            await redis.zremrangebyscore(_key(kind), "-inf", now - ALIVE_SECONDS)
        except (RedisError, OSError):
            pass  # readyz is red then, which is true
        await asyncio.sleep(ALIVE_BEAT_SECONDS)


async def alive(redis: "Redis", kind: str) -> int:
    """How many processes of a kind (`chat`, `index`) spoke lately. Raises RedisError."""
    return int(await redis.zcount(_key(kind), time.time() - ALIVE_SECONDS, "+inf"))


async def forget(redis: "Redis") -> None:
    """Drop all signs of life: those of processes that were killed outlast them a while."""
    await redis.delete(*(_key(kind) for kind in ("chat", "index")))
