"""What must hold before processes start: the schema, and a workspace with an owner."""

import asyncio
import contextlib

from redis.exceptions import RedisError

from ops.migrate import upgrade
from shared.bus import jobs
from shared.core.db import Database, make_engine
from shared.core.liveness import forget
from shared.core.redis import make_redis
from shared.core.settings import Settings
from shared.wiki.bootstrap import ensure_workspace


def prepare_alone(settings: Settings) -> str | None:
    """`prepare_database` where nobody else can be running on these stores: signs of life in
    them are those of processes that were killed."""
    asyncio.run(_forget(settings))
    return prepare_database(settings)


def prepare_database(settings: Settings) -> str | None:
    """Migrate and make the first workspace where there is none; others may be running.

    Returns the path of a one-time sign-in link when the owner has no password yet. Raises
    OpsError, NewerDatabaseError among them.
    """
    upgrade(settings.require_database_url())
    return asyncio.run(_first_workspace(settings))


async def _forget(settings: Settings) -> None:
    redis = make_redis(settings)
    with contextlib.suppress(RedisError, OSError):  # whoever needs Redis says that it is away
        await forget(redis)
    await redis.aclose()


async def _first_workspace(settings: Settings) -> str | None:
    database = Database(make_engine(settings.require_database_url(), pool_size=2))
    try:
        return await ensure_workspace(database, settings)
    finally:
        await jobs.drain()
        await database.close()
