"""What a worker process has: one event loop on a thread of its own, and its clients.

Celery's tasks are plain functions on the pool's threads; `app_task` bridges them to
coroutines on this loop, where one process holds hundreds of turns.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from celery import shared_task
from redis.asyncio import Redis

from shared.bus.jobs import Job
from shared.bus.stream import EventStream
from shared.core.db import Database, make_engine
from shared.core.figures import Figures
from shared.core.ids import new_id
from shared.core.logging import get_logger
from shared.core.redis import make_redis
from shared.core.secrets import SecretBox
from shared.core.settings import Settings, get_settings
from shared.core.tunables import LEASE_POOL_SIZE
from workers.clients import Clients

log = get_logger(__name__)

ResultT = TypeVar("ResultT")
JobT = TypeVar("JobT", bound=Job)


class TaskFailedError(Exception):
    """Carries the type of what went wrong, without its text."""


class Runtime:
    """The clients of one worker process, used on one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # Unique to this process's life: a lease by an earlier one is never taken for ours.
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{new_id().hex[-8:]}"
        self.database = Database(make_engine(settings.require_database_url()))
        self.leases = Database(
            make_engine(settings.require_database_url(), pool_size=LEASE_POOL_SIZE)
        )
        self.redis: Redis = make_redis(settings)
        self.stream = EventStream(self.redis, ttl_seconds=settings.stream_ttl_seconds)
        self.figures = Figures(self.redis)
        self.clients = Clients(settings)
        self.secrets = SecretBox(*settings.require_app_secrets())
        # Queries are embedded here, one at a time, whatever the index worker is busy with.
        self.query_slot = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-query")

    async def close(self) -> None:
        await self.clients.aclose()
        await self.figures.close()
        await self.redis.aclose()
        await self.leases.close()
        await self.database.close()
        self.query_slot.shutdown(wait=False, cancel_futures=True)


class LoopThread:
    """An event loop running on a daemon thread, with a runtime made on it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="loop", daemon=True)
        self._thread.start()
        # The loop itself refers to its tasks only weakly.
        self._background: set[Future[None]] = set()
        self.runtime = self.run(self._make())

    @staticmethod
    async def _make() -> Runtime:
        return Runtime(get_settings())

    def run(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run on the loop and wait, from another thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run on the loop in the background, as long as the loop runs."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._background.add(future)
        future.add_done_callback(self._ended)

    def _ended(self, future: "Future[None]") -> None:
        self._background.discard(future)
        if not future.cancelled() and future.exception() is not None:
            log.error("background_failed", exc_info=future.exception())

    def stop(self) -> None:
        for future in list(self._background):
            future.cancel()
        self.run(self.runtime.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)


_loop_thread: LoopThread | None = None


def start() -> LoopThread:
    """Make this process's loop and runtime; called once, when the worker starts."""
    global _loop_thread
    if _loop_thread is None:
        _loop_thread = LoopThread()
    return _loop_thread


def current() -> Runtime:
    """This process's runtime. Raises RuntimeError before `start`."""
    if _loop_thread is None:
        raise RuntimeError("the worker's runtime has not been started")
    return _loop_thread.runtime


Handler = Callable[[JobT], Awaitable[None]]


def app_task(job_type: type[JobT]) -> Callable[[Handler[JobT]], Handler[JobT]]:
    """Register `async def handler(job)` as the Celery task of a job type.

    Acknowledged early and without a result: what must survive is in PostgreSQL.
    """

    def decorate(handler: Handler[JobT]) -> Handler[JobT]:
        async def handle(job: JobT) -> None:
            await handler(job)

        def task(**kwargs: Any) -> None:
            try:
                start().run(handle(job_type.model_validate(kwargs)))
            except Exception as error:
                log.exception("task_failed", job=job_type.name)
                # Celery prints and Flower shows what a task raises: the type must do.
                raise TaskFailedError(type(error).__name__) from None

        shared_task(name=job_type.name, ignore_result=True, acks_late=False)(task)
        return handler

    return decorate
