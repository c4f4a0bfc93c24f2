"""The turns that this process holds: their leases, and the reasons to halt them."""

import asyncio
import contextlib
from collections.abc import Iterator
from enum import Enum
from uuid import UUID

from redis.exceptions import RedisError

from shared.bus.stream import SIGNALS
from shared.chat import turns
from shared.core.logging import get_logger
from shared.core.redis import make_redis
from workers.runtime import Runtime

log = get_logger(__name__)


class HaltReason(Enum):
    STOP = "stop"  # the person stopped the turn
    LOST = "lost"  # another attempt owns it
    SIGNED_OUT = "signed out"  # the person's session has ended
    HANDOVER = "handover"  # this process is going away


class Halt:
    """Whether and why a turn should halt; cooperative, so that no commit is torn."""

    def __init__(self) -> None:
        self.reason: HaltReason | None = None
        self._event = asyncio.Event()

    def set(self, reason: HaltReason) -> None:
        if self.reason is None:
            self.reason = reason
            self._event.set()

    def by(self, reason: HaltReason) -> bool:
        return self.reason is reason

    async def wait(self) -> None:
        await self._event.wait()


class Keeper:
    """Renews all leases of the process together, and hears what should stop."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._held: dict[UUID, tuple[int, Halt]] = {}

    @property
    def count(self) -> int:
        return len(self._held)

    @contextlib.contextmanager
    def holding(self, turn_id: UUID, epoch: int) -> Iterator[Halt]:
        """Keep the turn's lease while the block runs."""
        halt = Halt()
        self._held[turn_id] = (epoch, halt)
        try:
            yield halt
        finally:
            if self._held.get(turn_id, (None, None))[1] is halt:
                del self._held[turn_id]

    async def keep_leases(self) -> None:
        """Runs for the life of the process."""
        while True:
            await asyncio.sleep(self._runtime.settings.heartbeat_seconds)
            if self._held:
                try:
                    await self._renew()
                except Exception as error:  # the lease outlasts two missed beats
                    log.warning("heartbeat_failed", error=type(error).__name__)

    async def _renew(self) -> None:
        asked = {turn_id: epoch for turn_id, (epoch, _) in self._held.items()}
        async with self._runtime.leases.session() as session:
            held = await turns.renew_leases(
                session,
                list(asked),
                owner=self._runtime.owner,
                lease_seconds=self._runtime.settings.lease_seconds,
            )
        for turn_id, epoch in asked.items():
            if turn_id not in self._held or self._held[turn_id][0] != epoch:
                continue
            halt = self._held[turn_id][1]
            now = held.get(turn_id)
            if now is None or now.epoch != epoch:
                halt.set(HaltReason.LOST)
            elif now.stop:
                halt.set(HaltReason.STOP)
            elif not now.live:
                halt.set(HaltReason.SIGNED_OUT)

    async def hear_stops(self) -> None:
        """Runs for the life of the process; a missed signal is found by the next heartbeat."""
        while True:
            client = make_redis(self._runtime.settings, blocking=True)
            try:
                pubsub = client.pubsub()
                await pubsub.subscribe(SIGNALS)
                async for message in pubsub.listen():
                    if message["type"] == "message":
                        self._on_signal(UUID(message["data"].decode()))
            except (RedisError, OSError, ValueError) as error:
                log.warning("signals_lost", error=type(error).__name__)
                await asyncio.sleep(self._runtime.settings.heartbeat_seconds)
            finally:
                await client.aclose()

    def _on_signal(self, turn_id: UUID) -> None:
        held = self._held.get(turn_id)
        if held is not None:
            held[1].set(HaltReason.STOP)

    def hand_over(self) -> None:
        """Halt every held turn, so that another process goes on with it."""
        for _, halt in self._held.values():
            halt.set(HaltReason.HANDOVER)
