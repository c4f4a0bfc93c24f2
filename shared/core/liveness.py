"""Signs of life: each worker process tells Redis that it is there, for /readyz.

When somebody spoke is read from Redis's own clock: those of the processes may be minutes apart.
"""

import asyncio
import contextlib

from redis.asyncio import Redis
from redis.exceptions import RedisError

from shared.core.tunables import ALIVE_BEAT_SECONDS, ALIVE_SECONDS

# The kinds of worker processes, by the queue that they serve.
WORKER_KINDS = frozenset({"chat", "rpc", "index"})

_BEAT = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
"""
_COUNT = """
local now = tonumber(redis.call('TIME')[1])
return redis.call('ZCOUNT', KEYS[1], now - tonumber(ARGV[1]), '+inf')
"""


def _key(kind: str) -> str:
    return f"pt:alive:{kind}"


async def beat_forever(redis: "Redis", kind: str, member: str) -> None:
    """Say "alive" every few seconds; old members fall out of the set."""
    beat = redis.register_script(_BEAT)
    while True:
        with contextlib.suppress(RedisError, OSError):  # readyz is red then, which is true
            await beat(keys=[_key(kind)], args=[member, ALIVE_SECONDS])
        await asyncio.sleep(ALIVE_BEAT_SECONDS)


async def alive(redis: "Redis", kind: str) -> int:
    """How many processes of a kind (`WORKER_KINDS`) spoke lately. Raises RedisError."""
    count = redis.register_script(_COUNT)
    return int(await count(keys=[_key(kind)], args=[ALIVE_SECONDS]))


async def forget(redis: "Redis") -> None:
    """Drop all signs of life: those of processes that were killed outlast them a while."""
    await redis.delete(*(_key(kind) for kind in WORKER_KINDS))
