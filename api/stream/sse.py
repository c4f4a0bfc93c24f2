"""A turn as Server-Sent Events: what is committed first, then live, always from `start`."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from api.stream.cursor import Cursor, NeedSyncError
from api.stream.hub import Hub, Signal
from shared.bus import events
from shared.bus.stream import EventStream, epoch_of
from shared.chat import turns
from shared.chat.turns import TurnState
from shared.core.db import Database, database_away
from shared.core.logging import get_logger
from shared.core.tunables import (
    STALLED_READER_SECONDS,
    STREAM_PATIENCE_SECONDS,
    STREAM_POLL_SECONDS,
)
from shared.tools.registry import tool_titles

log = get_logger(__name__)

HEADERS = {
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
}


class TurnResponse(StreamingResponse):
    """A stream whose reader may be slow, but not stand still: then its connection ends."""

    async def stream_response(self, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(STALLED_READER_SECONDS):
                await send(message)

        try:
            await super().stream_response(send_in_time)
        except TimeoutError:
            log.info("reader_stalled")


class TurnStream:
    """Opens responses that follow a turn. The caller has authorised the reader."""

    def __init__(
        self, database: Database, stream: EventStream, hub: Hub, *, ping_seconds: float
    ) -> None:
        self._database = database
        self._stream = stream
        self._hub = hub
        self._ping = ping_seconds

    def response(
        self, turn_id: UUID, session_id: UUID, *, after: int | None = None
    ) -> StreamingResponse:
        """From `start`, or after the event that the reader had last, where that can be done
        without a gap."""
        return TurnResponse(
            self._frames(turn_id, session_id, after),
            media_type="text/event-stream",
            headers=HEADERS,
        )

    async def _frames(
        self, turn_id: UUID, session_id: UUID, after: int | None
    ) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._follow(turn_id, session_id, after):
                yield chunk
        except Exception as error:  # after the headers, an error can only be said in the stream
            log.error("stream_failed", turn_id=str(turn_id), error=type(error).__name__)
            text = "The connection to the answer was lost. Reload to see what was said."
            yield events.frame(0, events.encode(events.Error(text)))
            yield events.DONE

    async def _follow(
        self, turn_id: UUID, session_id: UUID, after: int | None
    ) -> AsyncIterator[bytes]:
        async with self._hub.follow(turn_id, session_id) as reader:
            cursor = await self._where_it_was(turn_id, after)
            first = b""
            if cursor is None:
                cursor = Cursor(tool_titles())
                first = b"".join(await self._sync(cursor, turn_id))
            if not cursor.ended:
                first += await self._tail(cursor, turn_id)
            if first:
                yield first
            while not cursor.ended:
                try:
                    async with asyncio.timeout(self._ping):
                        item = await reader.queue.get()
                except TimeoutError:
                    yield events.PING
                    continue
                if item is Signal.END:
                    return  # no `finish`: the client knows that it was cut off
                if isinstance(item, Signal):
                    frames = await self._sync(cursor, turn_id)
                    chunk = b"".join(frames) + await self._tail(cursor, turn_id)
                elif cursor.connects(item[0][0]):
                    chunk = await self._feed(cursor, turn_id, item)
                else:  # a publish was lost; the stream may still hold what it said
                    chunk = await self._tail(cursor, turn_id) or await self._feed(
                        cursor, turn_id, item
                    )
                if chunk:
                    yield chunk
        yield events.DONE

    async def _where_it_was(self, turn_id: UUID, after: int | None) -> Cursor | None:
        """The cursor of a reader that had everything up to `after`; None when Redis does not
        hold all of that any more, or a later attempt has begun, which begins by looking."""
        if not after or epoch_of(after) > 1:
            return None
        try:
            entries = await self._stream.read(turn_id, 0)
        except (RedisError, OSError):
            return None
        seen = [entry for entry in entries if entry[0] <= after]
        if [seq for seq, _ in seen] != list(range(1, after + 1)):
            return None
        cursor = Cursor(tool_titles())
        cursor.replay(seen)
        return None if cursor.ended else cursor

    async def _sync(self, cursor: Cursor, turn_id: UUID) -> list[bytes]:
        state = await self._load(turn_id)
        if state is None:
            raise RuntimeError("the turn is gone")
        return cursor.sync(state)

    async def _load(self, turn_id: UUID) -> TurnState | None:
        """A database that is started again is waited for: to its readers the turn goes on."""
        deadline = asyncio.get_running_loop().time() + STREAM_PATIENCE_SECONDS
        while True:
            try:
                async with self._database.session() as session:
                    return await turns.load(session, turn_id)
            except (DBAPIError, PoolTimeoutError) as error:
                if asyncio.get_running_loop().time() > deadline or not database_away(error):
                    raise
            await asyncio.sleep(STREAM_POLL_SECONDS)

    async def _tail(self, cursor: Cursor, turn_id: UUID) -> bytes:
        """What Redis still holds after the cursor; nothing when Redis is away."""
        try:
            entries = await self._stream.read(turn_id, cursor.seq)
        except (RedisError, OSError):
            return b""
        return await self._feed(cursor, turn_id, entries)

    async def _feed(self, cursor: Cursor, turn_id: UUID, batch: list[tuple[int, bytes]]) -> bytes:
        out: list[bytes] = []
        for seq, data in batch:
            try:
                out += cursor.feed(seq, data)
            except NeedSyncError:
                out += await self._sync(cursor, turn_id)
                out += cursor.feed(seq, data, synced=True)
        return b"".join(out)
