"""What the processes of an installation count together, for /metrics: one hash in Redis.

Counting neither waits nor fails. Amounts gather in the process until a task of its own has
added them to the hash, all of them or none; while Redis is away they wait for it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import RedisError

from shared.core.tasks import end
from shared.core.tunables import (
    FIGURES_CLOSE_SECONDS,
    FIGURES_PAUSE_SECONDS,
    RECOVERY_BUCKETS,
    TURN_MAX_ATTEMPTS,
)

FIGURES_KEY = "pt:figures"

_ATTEMPTS = "attempts:"
_EXPIRIES = "lease-expiries"
_RECOVERY_SUM = "recovery:sum"
_RECOVERY_UP_TO = "recovery:le:"


@dataclass(frozen=True, slots=True)
class Counted:
    """The sums since Redis was last emptied. `attempts`: by number, from 1; `recoveries`: how
    many took at most so many seconds, by `RECOVERY_BUCKETS` and then by infinity."""

    lease_expiries: float
    attempts: dict[int, float]
    recoveries: dict[float, float]
    recovery_seconds: float


class Figures:
    """Adds to the sums. Used on one event loop."""

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis
        self._waiting: dict[str, float] = {}
        self._writer: asyncio.Task[None] | None = None

    def attempt(self, number: int) -> None:
        """A worker has begun the so-manieth attempt at a turn, from 1."""
        self._add(f"{_ATTEMPTS}{min(max(number, 1), TURN_MAX_ATTEMPTS)}", 1)

    def lease_expired(self, count: int = 1) -> None:
        """So many turns have lost their worker."""
        if count:
            self._add(_EXPIRIES, count)

    def recovered(self, seconds: float) -> None:
        """A lost turn has a worker again, so many seconds after its last one was heard of."""
        bound = next((b for b in RECOVERY_BUCKETS if seconds <= b), float("inf"))
        self._add(f"{_RECOVERY_UP_TO}{bound:g}", 1)
        self._add(_RECOVERY_SUM, max(seconds, 0.0))

    async def close(self) -> None:
        """Give what waits a moment to be written."""
        if self._writer is not None:
            await asyncio.wait({self._writer}, timeout=FIGURES_CLOSE_SECONDS)
            await end(self._writer)

    def _add(self, field: str, amount: float) -> None:
        self._waiting[field] = self._waiting.get(field, 0.0) + amount
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="figures")

    async def _write(self) -> None:
        while self._waiting:
            amounts, self._waiting = self._waiting, {}
            try:
                async with self._redis.pipeline(transaction=True) as pipeline:
                    for field, amount in amounts.items():
                        pipeline.hincrbyfloat(FIGURES_KEY, field, amount)
                    await pipeline.execute()
            except (RedisError, OSError):
                for field, amount in amounts.items():
                    self._waiting[field] = self._waiting.get(field, 0.0) + amount
                await asyncio.sleep(FIGURES_PAUSE_SECONDS)


def counted(fields: Mapping[bytes, bytes]) -> Counted:
    """What the hash under `FIGURES_KEY` says; zeros where it says nothing."""
    sums = {name.decode(): float(amount) for name, amount in fields.items()}
    # Bounds of another version of this code count in the next one that there is now.
    up_to = {
        float(name.removeprefix(_RECOVERY_UP_TO)): amount
        for name, amount in sums.items()
        if name.startswith(_RECOVERY_UP_TO)
    }
    return Counted(
        lease_expiries=sums.get(_EXPIRIES, 0.0),
        attempts={
            number: sums.get(f"{_ATTEMPTS}{number}", 0.0)
            for number in range(1, TURN_MAX_ATTEMPTS + 1)
        },
        recoveries={
            bound: sum(amount for least, amount in up_to.items() if least <= bound)
            for bound in (*RECOVERY_BUCKETS, float("inf"))
        },
        recovery_seconds=sums.get(_RECOVERY_SUM, 0.0),
    )
