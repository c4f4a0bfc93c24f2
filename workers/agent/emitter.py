"""Sends a turn's events: numbered, gathered for a moment, in order, once.

The first delta of a step is never held back; later ones are gathered for a few
milliseconds and merged. While Redis is away nothing is lost: events wait, deltas merge.
"""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from redis.exceptions import RedisError

from shared.bus import events
from shared.bus.stream import Append, EventStream, epoch_base
from shared.chat.errors import LostLeaseError
from shared.core.logging import get_logger
from shared.core.tasks import end
from shared.core.tunables import EVENT_FLUSH_SECONDS, EVENT_RETRY_SECONDS

log = get_logger(__name__)

_Delta = events.TextDelta | events.ReasoningDelta


class Emitter:
    """The events of one attempt. Use as an async context manager; `failed` is set when the
    fence says that another attempt owns the turn."""

    def __init__(
        self,
        stream: EventStream,
        turn_id: UUID,
        epoch: int,
        *,
        holds_lease: Callable[[], Awaitable[bool]],
    ) -> None:
        self._stream = stream
        self._holds_lease = holds_lease
        self._turn_id = turn_id
        self._epoch = epoch
        self._next = epoch_base(epoch) + 1
        self._pending: list[events.Event] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._eager = True
        self._after_delta = False
        self._pump: asyncio.Task[None] | None = None
        self.failed = asyncio.Event()

    async def __aenter__(self) -> "Emitter":
        self._pump = asyncio.create_task(self._run(), name=f"emit-{self._turn_id}")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._pump is not None
        await end(self._pump)

    @property
    def seq(self) -> int:
        """The number of the last event that was sent."""
        return self._next - 1

    def emit(self, *new: events.Event) -> None:
        """Take events; they leave soon. Adjacent deltas of one part become one."""
        for event in new:
            last = self._pending[-1] if self._pending else None
            if isinstance(event, _Delta) and type(last) is type(event) and last.id == event.id:
                self._pending[-1] = type(event)(event.id, last.delta + event.delta)
            else:
                self._pending.append(event)
            is_delta = isinstance(event, _Delta)
            if not (is_delta and self._after_delta):
                self._eager = True
            self._after_delta = is_delta
        self._idle.clear()
        self._wake.set()

    async def drain(self, *, timeout: float = 5.0) -> None:
        """Wait until all taken events have been sent. Raises LostLeaseError when the turn
        is another attempt's.

        With Redis away for `timeout` seconds the waiting events are given up: what they say
        is about to be committed, and a skipped number tells the readers to look there.
        """
        self._eager = True
        self._wake.set()
        idle = asyncio.create_task(self._idle.wait())
        failed = asyncio.create_task(self.failed.wait())
        try:
            await asyncio.wait({idle, failed}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            idle.cancel()
            failed.cancel()
        if self.failed.is_set():
            raise LostLeaseError
        if not self._idle.is_set():
            self._pending.clear()
            self._next += 1

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._pending:
                batch, self._pending, self._eager = self._pending, [], False
                numbered = []
                for event in batch:
                    numbered.append((self._next, events.encode(event)))
                    self._next += 1
                if not await self._send(numbered):
                    self.failed.set()
                    return
                if not self._eager:
                    await self._gather()
            self._idle.set()

    async def _gather(self) -> None:
        """Let deltas come together for a moment, unless something else arrives."""
        deadline = asyncio.get_running_loop().time() + EVENT_FLUSH_SECONDS
        while not self._eager:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return
            try:
                async with asyncio.timeout(left):
                    await self._wake.wait()
            except TimeoutError:
                return
            self._wake.clear()

    async def _send(self, numbered: list[tuple[int, bytes]]) -> bool:
        """True once appended; False when the turn is another attempt's. A fence that Redis
        lost, or that could not be raised at the claim, is raised while the lease is held."""
        while True:
            try:
                outcome = await self._stream.append(self._turn_id, self._epoch, numbered)
                if outcome is Append.OK:
                    return True
                if not await self._holds_lease():
                    return False
                if not await self._stream.raise_fence(self._turn_id, self._epoch):
                    return False
            except (RedisError, OSError) as error:
                log.warning(
                    "events_waiting", turn_id=str(self._turn_id), error=type(error).__name__
                )
                await asyncio.sleep(EVENT_RETRY_SECONDS)
