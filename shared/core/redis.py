"""Redis or Valkey clients. A blocking read needs its own client without a socket timeout."""

import redis.asyncio as aioredis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from shared.core.settings import Settings
from shared.core.tunables import REDIS_POOL_SIZE, REDIS_SECONDS


def make_redis(settings: Settings, *, blocking: bool = False) -> "aioredis.Redis":
    """A client; `blocking` for pub/sub and blocking reads (no read timeout).

    Commands beyond the connections of a process wait for one: hundreds of turns share them.
    """
    pool: aioredis.BlockingConnectionPool = aioredis.BlockingConnectionPool.from_url(
        settings.require_redis_url(),
        decode_responses=False,
        socket_timeout=None if blocking else REDIS_SECONDS,
        socket_connect_timeout=3.0,
        socket_keepalive=True,
        health_check_interval=15 if blocking else 30,
        max_connections=REDIS_POOL_SIZE,
        timeout=REDIS_SECONDS,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 2),
        retry_on_error=[RedisConnectionError],
    )
    return aioredis.Redis.from_pool(pool)
