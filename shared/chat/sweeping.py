"""The reaper's loop, run by every API and worker process."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from shared.bus.jobs import Queue, RunTurn, SendQueued, waiting
from shared.bus.stream import EventStream, signal_stop
from shared.chat.attending import stop_unattended
from shared.chat.models import Turn, TurnStatus
from shared.chat.queueing import enqueue_waiting
from shared.chat.recovery import end_abandoned, reap
from shared.chat.salvage import Entries
from shared.core.db import Database
from shared.core.figures import Figures
from shared.core.logging import get_logger
from shared.core.settings import Settings

log = get_logger(__name__)


class Sweeper:
    """What sweeps need. One sweep at a time; beside those of other processes."""

    def __init__(
        self,
        database: Database,
        redis: "Redis",
        stream: EventStream,
        figures: Figures,
        settings: Settings,
    ) -> None:
        self._database = database
        self._redis = redis
        self._stream = stream
        self._figures = figures
        self._settings = settings

    async def sweep(self) -> None:
        """Put back what was lost, end what nobody will finish, stop what nobody follows."""
        depth = await self._waiting(RunTurn.queue)
        async with self._database.session() as session:
            reaped = await reap(
                session, requeue_seconds=self._settings.requeue_seconds, waiting=depth
            )
        self._figures.lease_expired(reaped.lost)
        ended = [
            turn_id
            for turn_id, epoch in reaped.abandoned.items()
            if await self._end(turn_id, epoch)
        ]
        if reaped.requeued or ended:
            log.info("reaped", requeued=len(reaped.requeued), lost=reaped.lost, ended=len(ended))
        async with self._database.session() as session:
            stopped = await stop_unattended(session)
        depth = await self._waiting(SendQueued.queue)
        async with self._database.session() as session:
            pause = self._settings.requeue_seconds
            await enqueue_waiting(session, pause_seconds=pause, depth=depth)
        await self._tell(ended, stopped)

    async def _waiting(self, queue: Queue) -> int | None:
        try:
            return await waiting(self._redis, queue)
        except (RedisError, OSError):
            return None

    async def _end(self, turn_id: UUID, epoch: int) -> bool:
        said: Entries | None
        try:
            # Its worker may only have been frozen: nothing may be said after what is kept.
            await self._stream.raise_fence(turn_id, epoch + 1)
            said = await self._stream.read(turn_id, 0)
        except (RedisError, OSError):
            said = None
        async with self._database.session() as session:
            return await end_abandoned(session, turn_id, said)

    async def _tell(self, ended: Iterable[UUID], stopped: Iterable[Turn]) -> None:
        """Wake readers and workers; what is lost here, their own timers find."""
        try:
            for turn_id in ended:
                await self._stream.hint(turn_id)
            for turn in stopped:
                if turn.status == TurnStatus.RUNNING:
                    await signal_stop(self._redis, turn.id)
                else:
                    await self._stream.hint(turn.id)
        except (RedisError, OSError) as error:
            log.warning("sweep_not_told", error=type(error).__name__)

    async def run(self) -> None:
        """Sweep for ever. A failed sweep is logged; the next tick tries again."""
        while True:
            try:
                await self.sweep()
            except Exception as error:
                log.warning("sweep_failed", error=type(error).__name__)
            await asyncio.sleep(self._settings.reaper_seconds)
