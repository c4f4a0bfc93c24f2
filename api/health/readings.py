"""What the stores know of the whole installation, read at a scrape of /metrics."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar, get_args

from redis.asyncio import Redis

from shared.bus.jobs import Queue
from shared.chat.load import TurnLoad, turn_load
from shared.core.db import Database
from shared.core.figures import FIGURES_KEY, Counted, counted
from shared.core.liveness import WORKER_KINDS, alive
from shared.core.tunables import SCRAPE_STORE_SECONDS
from shared.search.backlog import IndexBacklog, index_backlog

ReadingT = TypeVar("ReadingT")

QUEUES: tuple[str, ...] = get_args(Queue)
WORKERS = tuple(sorted(WORKER_KINDS))


@dataclass(frozen=True, slots=True)
class DatabaseReading:
    """What PostgreSQL knows."""

    turns: TurnLoad
    index: IndexBacklog


@dataclass(frozen=True, slots=True)
class RedisReading:
    """What Redis knows: messages by queue, living workers by kind, and the common sums."""

    messages: dict[str, int]
    workers: dict[str, int]
    sums: Counted


async def read_stores(
    database: Database, redis: "Redis"
) -> tuple[DatabaseReading | None, RedisReading | None]:
    """Both at once; None for a store that does not answer in time."""
    return await asyncio.gather(_in_time(_database(database)), _in_time(_redis(redis)))


async def _in_time(reading: Awaitable[ReadingT]) -> ReadingT | None:
    try:
        async with asyncio.timeout(SCRAPE_STORE_SECONDS):
            return await reading
    except Exception:  # whatever it is, the store does not tell
        return None


async def _database(database: Database) -> DatabaseReading:
    async with database.session() as session:
        return DatabaseReading(await turn_load(session), await index_backlog(session))


async def _redis(redis: "Redis") -> RedisReading:
    async with redis.pipeline(transaction=False) as pipeline:
        for queue in QUEUES:
            pipeline.llen(queue)
        pipeline.hgetall(FIGURES_KEY)
        *messages, sums = await pipeline.execute()
    return RedisReading(
        messages=dict(zip(QUEUES, messages, strict=True)),
        workers={kind: await alive(redis, kind) for kind in WORKERS},
        sums=counted(sums),
    )
