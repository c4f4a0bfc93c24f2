"""What a command works with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis

import shared.models  # noqa: F401 - every table is known, whatever a command imports
from ops.commands._stores import settings_with_stores
from shared.bus import jobs
from shared.core.db import Database, make_engine
from shared.core.redis import make_redis
from shared.core.settings import Settings
from shared.core.tunables import COMMAND_POOL_SIZE


@dataclass(frozen=True)
class CommandContext:
    """The clients of one command. A session of `database` is one transaction."""

    settings: Settings
    database: Database
    redis: "Redis"


@asynccontextmanager
async def command_context() -> AsyncIterator[CommandContext]:
    """Clients of the stores; jobs enqueued within are sent before it ends.

    Where Pageturn does not run, the data folder's stores run for the duration. Raises
    OpsError, which the command line shows as one line.
    """
    with settings_with_stores() as settings:
        engine = make_engine(settings.require_database_url(), pool_size=COMMAND_POOL_SIZE)
        database, redis = Database(engine), make_redis(settings)
        try:
            yield CommandContext(settings, database, redis)
        finally:
            await jobs.drain()
            await redis.aclose()
            await database.close()
