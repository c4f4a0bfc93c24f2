"""How often one may do a thing in a minute: counted in Redis, closed without it."""

import time
from typing import Any

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import StorageError
from redis.asyncio import Redis

from shared.core.errors import RateLimitedError, UnavailableError


class Throttle:
    """Counts every try of the last minute under `namespace`, over all processes."""

    def __init__(
        self,
        redis_url: str,
        redis: Redis,
        *,
        per_minute: int,
        namespace: str,
        too_many: str,
        away: str,
    ) -> None:
        """Uses the client's connections. `too_many` and `away` are what a person reads."""
        options: dict[str, Any] = {"connection_pool": redis.connection_pool}
        storage = RedisStorage(
            f"async+{redis_url}",
            wrap_exceptions=True,
            implementation="redispy",
            key_prefix="pt:limits",
            **options,
        )
        self._limiter = MovingWindowRateLimiter(storage)
        self._limit = RateLimitItemPerMinute(per_minute, namespace=namespace)
        self._too_many, self._away = too_many, away

    async def check(self, *who: str) -> None:
        """Count a try. Raises RateLimitedError, and UnavailableError without Redis."""
        try:
            if await self._limiter.hit(self._limit, *who):
                return
            stats = await self._limiter.get_window_stats(self._limit, *who)
        except StorageError as error:
            raise UnavailableError(self._away) from error
        wait = max(1, round(stats.reset_time - time.time() + 0.5))
        raise RateLimitedError(self._too_many, retry_after=wait)
