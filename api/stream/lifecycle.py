"""What the API holds for streams while it runs, and its share of the reaper's work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from starlette.datastructures import State

from api.health.metrics import Metrics
from api.stream.hub import Hub
from api.stream.lag import probe_lag
from api.stream.sse import TurnStream
from shared.bus.stream import EventStream
from shared.chat.sweeping import Sweeper
from shared.core.db import Database
from shared.core.figures import Figures
from shared.core.redis import make_redis
from shared.core.settings import Settings
from shared.core.tasks import end


@asynccontextmanager
async def streaming(state: State) -> AsyncIterator[None]:
    """Needs `settings`, `database` and `redis` in the state; adds `hub`, `event_stream`,
    `turn_stream`, `sweeper`, `metrics`, and `leaving`: whether the process was told to stop."""
    settings: Settings = state.settings
    database: Database = state.database
    redis: Redis = state.redis
    subscriber = make_redis(settings, blocking=True)
    state.leaving = False
    state.hub = hub = Hub(database, subscriber)
    state.event_stream = EventStream(redis, ttl_seconds=settings.stream_ttl_seconds)
    state.turn_stream = TurnStream(
        database, state.event_stream, hub, ping_seconds=settings.ping_seconds
    )
    await hub.start()
    state.metrics = Metrics(database, redis, hub)
    probe = asyncio.create_task(probe_lag(hub, redis))
    figures = Figures(redis)
    state.sweeper = Sweeper(database, redis, state.event_stream, figures, settings)
    reaper = asyncio.create_task(state.sweeper.run())
    try:
        yield
    finally:
        await end(reaper, probe)
        await figures.close()
        await hub.stop()
        await subscriber.aclose()
