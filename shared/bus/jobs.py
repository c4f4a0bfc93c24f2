"""Jobs: typed payloads of ids, and the one way to enqueue them.

A job leaves only after its transaction has committed (`enqueue_after_commit`). A publish
blocks, so it runs on a thread of its own; a failed publish loses nothing, because the
row that it points to is found later by the reaper or the index's reconciler.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar, Literal
from uuid import UUID

from celery import Celery
from pydantic import BaseModel, ConfigDict
from redis.asyncio import Redis
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from shared.core.logging import get_logger
from shared.core.settings import get_settings

log = get_logger(__name__)

Queue = Literal["chat", "rpc", "index", "maintenance"]


class Job(BaseModel):
    """A task's name, its queue and its arguments: ids, never content or secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    queue: ClassVar[Queue]


class RunTurn(Job):
    name = "chat.run_turn"
    queue = "chat"
    turn_id: UUID


class MakeTitle(Job):
    """Name a chat whose first answer has ended."""

    name = "chat.make_title"
    queue = "chat"
    chat_id: UUID


class SendQueued(Job):
    """Send the first message that waits in a chat, if it may go and nothing runs there."""

    name = "chat.send_queued"
    queue = "rpc"  # in the queue of turns it would wait as long as its turn will wait again
    chat_id: UUID


class EmbedQuery(Job):
    """Embed the text of a sealed request row; the vector comes back under a Redis key."""

    name = "rpc.embed_query"
    queue = "rpc"
    request_id: UUID


class TestProvider(Job):
    """Make the call that a sealed request row describes; how it went comes back under a
    Redis key."""

    name = "rpc.test_provider"
    queue = "rpc"
    request_id: UUID


class PageEvent(Job):
    """Something happened to a page: the index follows the page's state, whatever it was."""

    queue = "index"
    page_id: UUID


class PageCreated(PageEvent):
    name = "page.created"


class PageUpdated(PageEvent):
    name = "page.updated"


class PageMoved(PageEvent):
    name = "page.moved"


class PageTrashed(PageEvent):
    name = "page.trashed"


class PageRestored(PageEvent):
    name = "page.restored"


class FollowIndex(Job):
    """Enqueue the pages whose index lags behind; the clock's tick."""

    name = "maintenance.follow_index"
    queue = "maintenance"


class SweepExpired(Job):
    """Remove what has expired; the clock's tick."""

    name = "maintenance.sweep_expired"
    queue = "maintenance"


JOBS: tuple[type[Job], ...] = (
    RunTurn,
    MakeTitle,
    SendQueued,
    EmbedQuery,
    TestProvider,
    PageCreated,
    PageUpdated,
    PageMoved,
    PageTrashed,
    PageRestored,
    FollowIndex,
    SweepExpired,
)

_producer: Celery | None = None
_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="publish")
_pending: set[Future[None]] = set()


def producer() -> Celery:
    """This process's Celery producer, with bounded waits on a broker that is away."""
    global _producer
    if _producer is None:
        _producer = Celery("pageturn", broker=get_settings().require_redis_url())
        _producer.conf.update(
            task_ignore_result=True,
            task_serializer="json",
            broker_transport_options=BROKER_TRANSPORT,
            broker_connection_timeout=2,
            task_publish_retry=True,
            task_publish_retry_policy={"max_retries": 2, "interval_start": 0.1},
        )
    return _producer


BROKER_TRANSPORT: dict[str, Any] = {
    "socket_timeout": 5,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 15,
}


async def waiting(redis: "Redis", queue: Queue) -> int:
    """How many messages a queue holds that no worker has taken. Raises RedisError."""
    # Celery keeps a queue as a list of its name.
    return int(await redis.llen(queue))


def publish(job: Job) -> None:
    """Send a job now, from the calling thread. Failures are logged, never raised."""
    try:
        producer().send_task(
            job.name, kwargs=job.model_dump(mode="json"), queue=job.queue, ignore_result=True
        )
    except Exception as error:
        log.warning("enqueue_failed", job=job.name, error=type(error).__name__)


def enqueue(job: Job) -> None:
    """Send a job from the publishing thread, without waiting for it."""
    future = _executor.submit(publish, job)
    _pending.add(future)
    future.add_done_callback(_pending.discard)


async def drain() -> None:
    """Wait until every job handed to `enqueue` has been sent or given up."""
    while _pending:
        await asyncio.gather(*(asyncio.wrap_future(f) for f in list(_pending)))


def enqueue_after_commit(session: AsyncSession, job: Job) -> None:
    """Send `job` once the session's transaction has committed; drop it on rollback."""
    jobs: dict[Job, None] = session.sync_session.info.setdefault("jobs", {})
    jobs[job] = None  # once, in the order of the first


@event.listens_for(Session, "after_commit")
def _send_jobs(session: Session) -> None:
    if session.in_nested_transaction():
        return
    for job in session.info.pop("jobs", {}):
        enqueue(job)


@event.listens_for(Session, "after_rollback")
def _drop_jobs(session: Session) -> None:
    if not session.in_nested_transaction():
        session.info.pop("jobs", None)
