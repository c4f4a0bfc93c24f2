"""The figures of an installation, as a scraper reads them."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from sqlalchemy import event, update

from api.health.metrics import Metrics
from api.stream.hub import Hub
from api.stream.lag import probe_lag
from shared.bus.jobs import drain
from shared.chat import turns
from shared.chat.models import Turn
from shared.core.db import Database, make_engine
from shared.core.figures import Figures
from shared.core.redis import make_redis
from shared.core.settings import get_settings
from shared.core.tasks import end
from shared.providers.models import AiSettings
from shared.search.lagging import want_again
from shared.wiki.models import Page, PageIndex
from tests.factories.saved_pages import make_page, put_in_trash, save_page
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.turns import Stage
from workers.indexing.indexer import index_page
from workers.llm.local_embeddings import DEFAULT_MODEL
from workers.runtime import Runtime

# Of the whole installation, or of the process that is asked; a scraper sums only the latter.
INSTALLATION = {
    "pageturn_turns": "gauge",
    "pageturn_oldest_queued_turn_seconds": "gauge",
    "pageturn_queue_messages": "gauge",
    "pageturn_lease_expiries": "counter",
    "pageturn_attempts": "counter",
    "pageturn_recovery_seconds": "histogram",
    "pageturn_index_lag_pages": "gauge",
    "pageturn_index_lag_seconds": "gauge",
    "pageturn_index_failed_pages": "gauge",
    "pageturn_workers": "gauge",
}
PROCESS = {
    "pageturn_store_up": "gauge",
    "pageturn_event_lag_seconds": "histogram",
    "pageturn_stream_readers": "gauge",
    "pageturn_http_requests": "counter",
    "pageturn_http_request_seconds": "histogram",
}
LABELS = {
    "status": {"queued", "running"},
    "queue": {"chat", "rpc", "index", "maintenance"},
    "kind": {"chat", "rpc", "index"},
    "number": {"1", "2", "3"},
    "store": {"database", "redis"},
}
HOUR = timedelta(hours=1)


class Scraped:
    """One answer, read by Prometheus' own parser."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.families: dict[str, Metric] = {}
        for family in text_string_to_metric_families(text):
            assert family.name not in self.families, f"{family.name} comes twice"
            self.families[family.name] = family

    def value(self, name: str, **labels: str) -> float:
        """Of the one sample with this name and these labels."""
        (found,) = [
            sample.value
            for family in self.families.values()
            for sample in family.samples
            if sample.name == f"pageturn_{name}" and sample.labels == labels
        ]
        return found


@pytest.fixture
async def hub(database: Database) -> AsyncIterator[Hub]:
    subscriber = make_redis(get_settings(), blocking=True)
    running = Hub(database, subscriber)
    await running.start()
    yield running
    await running.stop()
    await subscriber.aclose()


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    runtime = Runtime(get_settings())
    yield Stage(runtime)
    await runtime.close()


async def scrape(database: Database, redis: Redis, hub: Hub) -> Scraped:
    """By a process that has kept nothing yet."""
    return Scraped((await Metrics(database, redis, hub).text()).decode())


async def test_every_figure_has_its_name_and_type_and_no_label_names_a_person_or_a_page(
    client: httpx2.AsyncClient, database: Database, world: World
) -> None:
    page = await make_page(database, world, "Secret title", "Secret words.")
    await client.get(f"/v1/pages/{page.id}", headers=world.headers("owner"))
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    scraped = Scraped(answer.text)
    ours = {
        name: family.type
        for name, family in scraped.families.items()
        if name.startswith("pageturn_") and not name.endswith("_created")
    }
    assert ours == INSTALLATION | PROCESS
    for name in ours:
        assert scraped.families[name].documentation, name
    for name in (*INSTALLATION, "pageturn_store_up"):
        for sample in scraped.families[name].samples:
            for label, value in sample.labels.items():
                assert label == "le" or value in LABELS[label], (name, label)
    for text in (str(page.id), "Secret", "owner", str(world.workspace_id), "Acme"):
        assert text not in answer.text


async def test_turns_are_counted_by_state_and_the_oldest_that_waits_is_timed(
    database: Database, redis: Redis, hub: Hub, stage: Stage, world: World
) -> None:
    async def age(turn_id: object, **columns: timedelta) -> None:
        async with database.session() as session:
            values = {name: datetime.now(UTC) - by for name, by in columns.items()}
            await session.execute(update(Turn).where(Turn.id == turn_id).values(**values))

    async def take(turn_id: object) -> None:
        async with database.session() as session:
            assert await turns.claim(session, turn_id, owner="o", lease_seconds=60)

    none = await scrape(database, redis, hub)
    assert none.value("turns", status="queued") == 0
    assert none.value("oldest_queued_turn_seconds") == 0
    first, second = [await stage.send(world.actor("writer"), text) for text in ("A?", "B?")]
    await age(first, created_at=HOUR)
    both = await scrape(database, redis, hub)
    assert both.value("turns", status="queued") == 2
    assert 3600 <= both.value("oldest_queued_turn_seconds") < 3660
    await take(first)
    one = await scrape(database, redis, hub)
    assert one.value("turns", status="queued") == 1
    assert one.value("turns", status="running") == 1
    assert one.value("oldest_queued_turn_seconds") < 60  # only the second one waits
    await take(second)
    await stage.lose(first)
    await stage.sweep()
    lost = await scrape(database, redis, hub)
    assert lost.value("turns", status="queued") == 1
    # Its hour as a turn is not an hour of waiting.
    assert lost.value("oldest_queued_turn_seconds") < 60


async def test_what_several_processes_counted_is_seen_by_each(
    database: Database, redis: Redis, hub: Hub, stage: Stage, world: World
) -> None:
    for queue in ("chat", "rpc", "index", "maintenance"):
        await redis.delete(queue)
    await stage.send(world.actor("writer"), "A?")
    await drain()
    now = (await redis.time())[0]
    await redis.zadd("pt:alive:chat", {"one": now, "two": now})
    for seconds in (4.5, 30.0):
        worker = Figures(redis)
        worker.attempt(2)
        worker.lease_expired()
        worker.recovered(seconds)
        await worker.close()
    for _ in range(2):  # two API processes
        scraped = await scrape(database, redis, hub)
        assert scraped.value("queue_messages", queue="chat") == 1
        assert scraped.value("queue_messages", queue="index") == 0
        assert scraped.value("workers", kind="chat") == 2
        assert scraped.value("workers", kind="index") == 0
        assert scraped.value("attempts_total", number="1") == 0
        assert scraped.value("attempts_total", number="2") == 2
        assert scraped.value("lease_expiries_total") == 2
        assert scraped.value("recovery_seconds_bucket", le="4.0") == 0
        assert scraped.value("recovery_seconds_bucket", le="6.0") == 1
        assert scraped.value("recovery_seconds_bucket", le="+Inf") == 2
        assert scraped.value("recovery_seconds_count") == 2
        assert scraped.value("recovery_seconds_sum") == 34.5


async def test_the_index_tells_how_many_pages_wait_since_when_and_which_failed(
    database: Database, redis: Redis, hub: Hub, world: World
) -> None:
    async def told() -> tuple[float, float, float]:
        scraped = await scrape(database, redis, hub)
        return (
            scraped.value("index_lag_pages"),
            scraped.value("index_lag_seconds") // 3600,  # whole hours
            scraped.value("index_failed_pages"),
        )

    embedder = FakeEmbedder(DEFAULT_MODEL)
    assert await told() == (0, 0, 0)
    page = await make_page(database, world, "Handbook", "Words.")
    async with database.session() as session:
        old = datetime.now(UTC) - HOUR
        await session.execute(update(Page).values(updated_at=old))
    assert await told() == (1, 1, 0)
    await index_page(database, embedder, page.id)
    assert await told() == (0, 0, 0)
    embedder.failure = ValueError()
    await save_page(database, world, page.id, markdown="Other words.")
    assert await told() == (1, 0, 0)
    await index_page(database, embedder, page.id)
    assert await told() == (0, 0, 1)
    embedder.failure = None
    await index_page(database, embedder, page.id)
    async with database.session() as session:
        await session.execute(update(Page).values(updated_at=old))
        await want_again(session)
    assert await told() == (1, 0, 0)  # wanted again a moment ago, though it is old
    await index_page(database, embedder, page.id)
    async with database.session() as session:
        await session.execute(
            update(PageIndex).values(model_name="openai-compatible:m@0")  # not the chosen one
        )
        await session.execute(update(AiSettings).values(updated_at=datetime.now(UTC) - 2 * HOUR))
    assert await told() == (1, 1, 0)
    await put_in_trash(database, world, page.id)
    assert await told() == (0, 0, 0)


@pytest.fixture
async def silent() -> AsyncIterator[int]:
    """The port of a server that takes every connection and never says a word."""
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.parametrize("how", ["refuses", "says nothing"])
async def test_a_dead_store_leaves_its_figures_out_and_a_scrape_ends(
    database: Database,
    redis: Redis,
    hub: Hub,
    silent: int,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.health.readings.SCRAPE_STORE_SECONDS", 0.5)
    port = 1 if how == "refuses" else silent
    no_database = Database(make_engine(f"postgresql+psycopg://x@127.0.0.1:{port}/x"))
    no_redis = Redis.from_url(f"redis://127.0.0.1:{port}/0")
    begun = time.monotonic()
    half = await scrape(database, no_redis, hub)
    assert half.value("store_up", store="database") == 1
    assert half.value("store_up", store="redis") == 0
    assert half.value("turns", status="queued") == 0
    assert "pageturn_queue_messages" not in half.families
    half = await scrape(no_database, redis, hub)
    assert half.value("store_up", store="database") == 0
    assert half.value("workers", kind="chat") == 0
    assert "pageturn_turns" not in half.families
    none = await scrape(no_database, no_redis, hub)
    assert {name for name in none.families if name in INSTALLATION} == set()
    assert none.value("stream_readers") == 0
    assert time.monotonic() - begun < 5  # three times, of which each may take half a second
    await no_redis.aclose()
    await no_database.close()


async def test_a_storm_of_scrapes_asks_the_stores_once(
    database: Database, redis: Redis, hub: Hub
) -> None:
    statements: list[str] = []

    def asked(_c: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", asked)
    try:
        await scrape(database, redis, hub)
        once = len(statements)
        metrics = Metrics(database, redis, hub)
        texts = await asyncio.gather(*(metrics.text() for _ in range(40)))
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", asked)
    assert len(texts) == 40
    assert 0 < once == len(statements) - once


async def test_the_lag_of_events_is_measured_through_redis_and_the_event_loop(
    database: Database, redis: Redis, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.stream.lag.EVENT_LAG_PROBE_SECONDS", 0.01)

    async def measured(more: int) -> Scraped:
        count = (await scrape(database, redis, hub)).value("event_lag_seconds_count")
        async with asyncio.timeout(10):
            while True:
                scraped = await scrape(database, redis, hub)
                if scraped.value("event_lag_seconds_count") >= count + more:
                    return scraped

    before = await scrape(database, redis, hub)
    probe = asyncio.create_task(probe_lag(hub, redis))
    idle = await measured(3)
    with SyncRedis.from_url(get_settings().require_redis_url()) as blocking:
        blocking.publish(hub.own_channel, repr(time.perf_counter()))
        time.sleep(0.3)  # noqa: ASYNC251 - the loop does something else meanwhile
    blocked = await measured(3)
    await end(probe)

    def slow(scraped: Scraped) -> float:
        over = scraped.value("event_lag_seconds_count")
        return over - scraped.value("event_lag_seconds_bucket", le="0.1")

    assert slow(idle) == slow(before)
    assert slow(blocked) > slow(idle)
