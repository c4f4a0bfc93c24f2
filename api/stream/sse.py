"""A turn as Server-Sent Events: what is committed first, then live, always from `start`."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from redis.exceptions import RedisError
from starlette.responses import StreamingResponse

from api.stream.cursor import Cursor, NeedSyncError
from api.stream.hub import Hub, Signal
from shared.bus import events
from shared.bus.stream import EventStream
from shared.chat import turns
from shared.core.db import Database
from shared.core.logging import get_logger
from shared.tools.registry import tool_titles

log = get_logger(__name__)

HEADERS = {
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
}


class TurnStream:
    """Opens responses that follow a turn. The caller has authorised the reader."""

    def __init__(
        self, database: Database, stream: EventStream, hub: Hub, *, ping_seconds: float
    ) -> None:
        self._database = database
        self._stream = stream
        self._hub = hub
        self._ping = ping_seconds

    def response(self, turn_id: UUID, session_id: UUID) -> StreamingResponse:
        return StreamingResponse(
            self._frames(turn_id, session_id), media_type="text/event-stream", headers=HEADERS
        )

    async def _frames(self, turn_id: UUID, session_id: UUID) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._follow(turn_id, session_id):
                yield chunk
        except Exception as error:  # after the headers, an error can only be said in the stream
            log.error("stream_failed", turn_id=str(turn_id), error=type(error).__name__)
            text = "The connection to the answer was lost. Reload to see what was said."
            yield events.frame(0, events.encode(events.Error(text)))
            yield events.DONE

    async def _follow(self, turn_id: UUID, session_id: UUID) -> AsyncIterator[bytes]:
        cursor = Cursor(tool_titles())
        async with self._hub.follow(turn_id, session_id) as reader:
            yield b"".join(await self._sync(cursor, turn_id))
            if not cursor.ended:
                tail = await self._tail(cursor, turn_id)
                if tail:
                    yield tail
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

    async def _sync(self, cursor: Cursor, turn_id: UUID) -> list[bytes]:
        async with self._database.session() as session:
            state = await turns.load(session, turn_id)
        if state is None:
            raise RuntimeError("the turn is gone")
        return cursor.sync(state)

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
