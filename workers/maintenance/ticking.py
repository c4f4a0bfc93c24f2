"""A pile of ticks does the work of one.

A tick carries no time: a worker whose clock is ahead would take each for an old one. Whether
one came lately is read from Redis, by Redis's clock.
"""

from redis.asyncio import Redis

from shared.bus.jobs import Job
from shared.core.tunables import TICK_SHARE


def tick_key(job: type[Job]) -> str:
    """What stands in Redis for a while after a tick that was followed."""
    return f"pt:tick:{job.name}"


async def due(redis: "Redis", job: type[Job], seconds: float) -> bool:
    """Whether a tick that comes every so many seconds is to be followed; then those that come
    too soon after it are not. Raises RedisError."""
    pause = round(seconds * TICK_SHARE * 1000)
    return bool(await redis.set(tick_key(job), b"", nx=True, px=pause))
