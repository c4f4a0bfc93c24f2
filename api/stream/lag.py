"""How long an event takes from Redis to the readers of this process.

Once a second the process publishes a moment to itself and hears it by the hub's subscription,
behind whatever else waits there: one clock, and both Redis and the event loop are in the time.
"""

import asyncio
import contextlib
import time

from prometheus_client import Histogram
from redis.asyncio import Redis
from redis.exceptions import RedisError

from api.stream.hub import Hub
from shared.core.tunables import EVENT_LAG_BUCKETS, EVENT_LAG_PROBE_SECONDS

EVENT_LAG = Histogram(
    "pageturn_event_lag_seconds",
    "Seconds from publishing an event until this process hears it.",
    buckets=EVENT_LAG_BUCKETS,
)


async def probe_lag(hub: Hub, redis: "Redis") -> None:
    """Runs for the life of the process; what Redis loses is not measured."""
    hub.on_own = _heard
    while True:
        with contextlib.suppress(RedisError, OSError):
            await redis.publish(hub.own_channel, repr(time.perf_counter()))
        await asyncio.sleep(EVENT_LAG_PROBE_SECONDS)


def _heard(moment: bytes) -> None:
    EVENT_LAG.observe(time.perf_counter() - float(moment))
