"""How often one may try to sign in: an address and an account each, closed without Redis."""

import hashlib

from redis.asyncio import Redis

from shared.core.throttle import Throttle
from shared.core.tunables import SIGN_IN_PER_MINUTE


class SignInThrottle:
    """Counts every attempt of the last minute, right or wrong."""

    def __init__(self, redis_url: str, redis: Redis) -> None:
        self._throttle = Throttle(
            redis_url,
            redis,
            per_minute=SIGN_IN_PER_MINUTE,
            namespace="sign-in",
            too_many="Too many attempts to sign in: wait a minute and try again.",
            away="Signing in is not possible just now: try again.",
        )

    async def check(self, *, address: str, account: str | None = None) -> None:
        """Count an attempt. Raises RateLimitedError, and UnavailableError without Redis."""
        await self._throttle.check("address", address)
        if account is not None:
            folded = account.strip().lower().encode("utf-8", "surrogatepass")
            await self._throttle.check("account", hashlib.sha256(folded).hexdigest())
