"""One subscriber a process: live events of every followed turn, fanned out to readers.

A reader's queue is bounded: one that stalls is dropped and may come back. A timer covers
lost publishes: once a second, one query looks at every followed turn, and notes that it is
followed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import select

from shared.accounts.models import UserSession
from shared.accounts.repository import live_sessions
from shared.bus.stream import channel, parse_message
from shared.chat.attending import attend
from shared.chat.models import Turn
from shared.core.db import Database
from shared.core.ids import new_id
from shared.core.logging import get_logger
from shared.core.tasks import end
from shared.core.tunables import READER_QUEUE_SIZE, STREAM_POLL_SECONDS

log = get_logger(__name__)

Batch = list[tuple[int, bytes]]


class Signal(Enum):
    """What a reader may find in its queue instead of events."""

    LOOK = "look"  # the database may have something new
    END = "end"  # the reader may not read on: session ended, or it lagged too far


Item = Batch | Signal


@dataclass(eq=False)
class Reader:
    """One open stream: the turn it follows and the session it reads by."""

    turn_id: UUID
    session_id: UUID
    queue: asyncio.Queue[Item] = field(
        default_factory=lambda: asyncio.Queue(maxsize=READER_QUEUE_SIZE)
    )
    dropped: bool = False

    def put(self, item: Item) -> None:
        try:
            self.queue.put_nowait(item)
        except asyncio.QueueFull:
            self.drop()

    def drop(self) -> None:
        """Empty the queue and leave only the end in it."""
        if not self.dropped:
            self.dropped = True
            while not self.queue.empty():
                self.queue.get_nowait()
            self.queue.put_nowait(Signal.END)


class Hub:
    """Started with the application; `follow` is what a stream's reader uses."""

    def __init__(self, database: Database, subscriber: "Redis") -> None:
        self._database = database
        self._pubsub = subscriber.pubsub()
        self._readers: dict[str, set[Reader]] = {}
        self._confirmed: dict[str, asyncio.Event] = {}
        self._seen: dict[UUID, tuple[Any, ...]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._leaving = False
        # A channel of our own keeps the connection open while nobody reads.
        self.own_channel = f"pt:hub:{new_id().hex}"
        self.on_own: Callable[[bytes], None] = lambda _: None
        # One command at a time: an unsubscribe must not overtake a newcomer's subscribe.
        self._commands = asyncio.Lock()

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen(), name="hub-listen"),
            asyncio.create_task(self._poll(), name="hub-poll"),
        ]

    def let_go(self) -> None:
        """End all readers, and who comes now: this process is leaving, another has room."""
        self._leaving = True
        for reader in self._all():
            reader.drop()

    async def stop(self) -> None:
        self.let_go()
        await end(*self._tasks)
        await self._pubsub.aclose()  # type: ignore[no-untyped-call]

    def _all(self) -> list[Reader]:
        return [reader for readers in self._readers.values() for reader in readers]

    @property
    def reader_count(self) -> int:
        return len(self._all())

    @contextlib.asynccontextmanager
    async def follow(self, turn_id: UUID, session_id: UUID) -> AsyncIterator[Reader]:
        """Subscribe, and hand out a reader whose queue fills from here on.

        With Redis away the reader still gets its looks at the database.
        """
        reader = Reader(turn_id, session_id)
        name = channel(turn_id)
        self._readers.setdefault(name, set()).add(reader)
        if self._leaving:
            reader.drop()
        try:
            await self._subscribe(name)
            yield reader
        finally:
            await self._leave(name, reader)

    async def _subscribe(self, name: str) -> None:
        async with self._commands:
            confirmed = self._confirmed.get(name)
            if confirmed is None:
                confirmed = self._confirmed[name] = asyncio.Event()
                with contextlib.suppress(RedisError, OSError):
                    await self._pubsub.subscribe(name)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STREAM_POLL_SECONDS):
                await confirmed.wait()

    async def _leave(self, name: str, reader: Reader) -> None:
        readers = self._readers.get(name, set())
        readers.discard(reader)
        if readers:
            return
        self._readers.pop(name, None)
        async with self._commands:
            if name in self._readers:  # somebody came meanwhile
                return
            self._confirmed.pop(name, None)
            self._seen.pop(reader.turn_id, None)
            with contextlib.suppress(RedisError, OSError):
                await self._pubsub.unsubscribe(name)

    async def _listen(self) -> None:
        pause = 0.05
        while True:
            try:
                await self._pubsub.subscribe(self.own_channel, *self._readers)
                while True:
                    message = await self._pubsub.get_message(timeout=None)
                    pause = 0.05
                    if message is not None:
                        self._deliver(message)
            except (RedisError, OSError) as error:
                log.warning("subscriber_lost", error=type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)
            # Whatever was published meanwhile is gone: every reader looks for itself.
            for reader in self._all():
                reader.put(Signal.LOOK)

    def _deliver(self, message: dict[str, Any]) -> None:
        name = message["channel"].decode()
        if message["type"] == "subscribe":
            if name in self._confirmed:
                self._confirmed[name].set()
            return
        if name == self.own_channel:
            self.on_own(message["data"])
            return
        readers = self._readers.get(name)
        if message["type"] == "message" and readers:
            batch = parse_message(message["data"])
            for reader in list(readers):
                reader.put(batch or Signal.LOOK)

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(STREAM_POLL_SECONDS)
            if not self._readers:
                continue
            try:
                await self._look()
            except Exception as error:  # the next tick tries again
                log.warning("stream_poll_failed", error=type(error).__name__)

    async def _look(self) -> None:
        """Wake the readers of turns that changed; end those whose session has ended."""
        readers = self._all()
        async with self._database.session() as session:
            await attend(session, {reader.turn_id for reader in readers})
            turns = await session.execute(
                select(Turn.id, Turn.status, Turn.epoch).where(
                    Turn.id.in_({reader.turn_id for reader in readers})
                )
            )
            live = await session.scalars(
                live_sessions().where(UserSession.id.in_({reader.session_id for reader in readers}))
            )
            states = {row.id: (row.status, row.epoch) for row in turns}
            sessions = set(live)
        for reader in readers:
            state = states.get(reader.turn_id)
            if state is None or reader.session_id not in sessions:
                reader.drop()
            elif self._seen.get(reader.turn_id) != state:
                reader.put(Signal.LOOK)
        self._seen = states
