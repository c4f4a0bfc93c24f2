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


def prepare_database(settings: Settings) -> str | None:
    """Migrate and make the first workspace where there is none.

    Returns the path of a one-time sign-in link when the owner has no password yet. Raises
    OpsError, NewerDatabaseError among them.
    """
    upgrade(settings.require_database_url())
    return asyncio.run(_prepare(settings))


async def _prepare(settings: Settings) -> str | None:
    redis = make_redis(settings)
    with contextlib.suppress(RedisError, OSError):  # whoever needs Redis says that it is away
        await forget(redis)
    await redis.aclose()
    return await _first_workspace(settings)


async def _first_workspace(settings: Settings) -> str | None:
    database = Database(make_engine(settings.require_database_url(), pool_size=2))
    try:
        return await ensure_workspace(database, settings)
    finally:
        await jobs.drain()
        await database.close()
