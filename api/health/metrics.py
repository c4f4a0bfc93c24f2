"""The answer to a scrape: this process's own figures, and those of the installation.

What the stores tell is kept a moment, so that many scrapes ask them no more often than one.
A store that is away leaves its figures out and says so itself.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import REGISTRY, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from redis.asyncio import Redis

from api.health.readings import DatabaseReading, RedisReading, read_stores
from api.stream.hub import Hub
from shared.core.db import Database
from shared.core.figures import Counted
from shared.core.tunables import SCRAPE_KEEP_SECONDS


class Metrics:
    """Made once a process."""

    def __init__(self, database: Database, redis: "Redis", hub: Hub) -> None:
        self._database = database
        self._redis = redis
        self._hub = hub
        self._reading = asyncio.Lock()
        self._kept: tuple[DatabaseReading | None, RedisReading | None] | None = None
        self._kept_until = 0.0

    async def text(self) -> bytes:
        """Prometheus' text format. Never raises and never waits long, whatever is away."""
        families = list(installation(*await self._stores()))
        families.append(
            _gauge("stream_readers", "Open streams of this process.", self._hub.reader_count)
        )
        return generate_latest(REGISTRY) + generate_latest(_Given(families))

    async def _stores(self) -> tuple[DatabaseReading | None, RedisReading | None]:
        clock = asyncio.get_running_loop().time
        async with self._reading:
            if self._kept is None or clock() >= self._kept_until:
                self._kept = await read_stores(self._database, self._redis)
                self._kept_until = clock() + SCRAPE_KEEP_SECONDS
            return self._kept


class _Given(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def installation(database: DatabaseReading | None, redis: RedisReading | None) -> Iterator[Metric]:
    """The figures of the whole installation. No label holds more than a kind or a number."""
    up = {"database": float(database is not None), "redis": float(redis is not None)}
    yield _gauges("store_up", "Whether the store answers this process.", "store", up)
    if database is not None:
        yield from _of_database(database)
    if redis is not None:
        yield from _of_redis(redis)


def _of_database(reading: DatabaseReading) -> Iterator[Metric]:
    turns, index = reading.turns, reading.index
    by_status = {"queued": turns.queued, "running": turns.running}
    yield _gauges("turns", "Turns that have not ended.", "status", by_status)
    yield _gauge(
        "oldest_queued_turn_seconds",
        "For how long the oldest queued turn has waited for a worker.",
        turns.oldest_queued_seconds,
    )
    yield _gauge("index_lag_pages", "Pages that wait to be indexed.", index.waiting)
    yield _gauge(
        "index_lag_seconds",
        "For how long the oldest change has waited to be indexed.",
        index.oldest_seconds,
    )
    yield _gauge("index_failed_pages", "Pages that could not be indexed.", index.failed)


def _of_redis(reading: RedisReading) -> Iterator[Metric]:
    yield _gauges("queue_messages", "Messages that no worker has taken.", "queue", reading.messages)
    yield _gauges("workers", "Worker processes that live.", "kind", reading.workers)
    sums = reading.sums
    yield CounterMetricFamily(
        "pageturn_lease_expiries", "Turns that lost their worker.", value=sums.lease_expiries
    )
    attempts = CounterMetricFamily(
        "pageturn_attempts", "Attempts at turns, by number.", labels=["number"]
    )
    for number, count in sums.attempts.items():
        attempts.add_metric([str(number)], count)
    yield attempts
    yield _recovery(sums)


def _recovery(sums: Counted) -> Metric:
    buckets = [
        ("+Inf" if bound == float("inf") else str(bound), count)
        for bound, count in sums.recoveries.items()
    ]
    return HistogramMetricFamily(
        "pageturn_recovery_seconds",
        "Seconds from a lost worker's last sign of life until another one took its turn.",
        buckets=buckets,
        sum_value=sums.recovery_seconds,
    )


def _gauge(name: str, what: str, value: float) -> Metric:
    return GaugeMetricFamily(f"pageturn_{name}", what, value=value)


def _gauges(name: str, what: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"pageturn_{name}", what, labels=[label])
    for value, amount in values.items():
        family.add_metric([value], amount)
    return family
