"""The reaper's loop, run by every API and worker process."""

import asyncio

from redis.exceptions import RedisError

from shared.bus.stream import EventStream
from shared.chat.recovery import reap
from shared.core.db import Database
from shared.core.logging import get_logger
from shared.core.settings import Settings

log = get_logger(__name__)


async def sweep_once(database: Database, stream: EventStream, settings: Settings) -> None:
    """Reap, then tell the readers of what was settled."""
    async with database.session() as session:
        reaped = await reap(session, requeue_seconds=settings.requeue_seconds)
    if reaped.requeued or reaped.settled:
        log.info("reaped", requeued=len(reaped.requeued), settled=len(reaped.settled))
    for turn_id in reaped.settled:
        try:
            await stream.hint(turn_id)
        except (RedisError, OSError):  # the readers' own timer finds it
            return


async def sweep_forever(database: Database, stream: EventStream, settings: Settings) -> None:
    """A failed sweep is logged; the next tick tries again."""
    while True:
        try:
            await sweep_once(database, stream, settings)
        except Exception as error:
            log.warning("sweep_failed", error=type(error).__name__)
        await asyncio.sleep(settings.reaper_seconds)
