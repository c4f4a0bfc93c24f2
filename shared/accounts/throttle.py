"""How often one may try to sign in: an address and an account each, closed without Redis."""

import hashlib
import time
from typing import Any

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import StorageError
from redis.asyncio import Redis

from shared.core.errors import RateLimitedError, UnavailableError
from shared.core.tunables import SIGN_IN_PER_MINUTE

_LIMIT = RateLimitItemPerMinute(SIGN_IN_PER_MINUTE, namespace="sign-in")


class SignInThrottle:
    """Counts every attempt of the last minute, right or wrong."""

    def __init__(self, redis_url: str, redis: Redis) -> None:
        """Uses the client's connections."""
        options: dict[str, Any] = {"connection_pool": redis.connection_pool}
        storage = RedisStorage(
            f"async+{redis_url}",
            wrap_exceptions=True,
            implementation="redispy",
            key_prefix="pt:limits",
            **options,
        )
        self._limiter = MovingWindowRateLimiter(storage)

    async def check(self, *, address: str, account: str | None = None) -> None:
        """Count an attempt. Raises RateLimitedError, and UnavailableError without Redis."""
        await self._hit("address", address)
        if account is not None:
            folded = account.strip().lower().encode("utf-8", "surrogatepass")
            await self._hit("account", hashlib.sha256(folded).hexdigest())

    async def _hit(self, kind: str, who: str) -> None:
        try:
            if await self._limiter.hit(_LIMIT, kind, who):
                return
            stats = await self._limiter.get_window_stats(_LIMIT, kind, who)
        except StorageError as error:
            raise UnavailableError("Signing in is not possible just now: try again.") from error
        wait = max(1, round(stats.reset_time - time.time() + 0.5))
        raise RateLimitedError(
            "Too many attempts to sign in: wait a minute and try again.", retry_after=wait
        )
