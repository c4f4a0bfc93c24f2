"""The line between a browser and a Pageturn, which can be cut."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, Self

CHUNK = 64 * 1024  # bytes passed on at once


class Wire:
    """A context manager; `url` leads to the port on this machine that it was given."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: set[asyncio.Task[None]] = set()
        self._down = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server: asyncio.Server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)

    def cut(self) -> None:
        """What is open ends now; what is opened ends at once."""

        async def cut() -> None:
            self._down = True
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

        self._run(cut())

    def mend(self) -> None:
        self._down = False

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                if not self._down:
                    await self._join(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        ways = [
            asyncio.create_task(_pass(reader, far_writer)),
            asyncio.create_task(_pass(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            far_writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(CHUNK):
            writer.write(piece)
            await writer.drain()
