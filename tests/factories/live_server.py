"""The API behind a real server, for what needs real connections: streams, cookies, limits."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from api.main import create_app

START_SECONDS = 20.0


@contextmanager
def serving() -> Iterator[str]:
    """Serve the application on a free loopback port from a thread; its base address."""
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: object = None) -> None:
            await super().startup()
            started.set()

    config = uvicorn.Config(
        create_app(), host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=2
    )
    server = Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), name="live-server")
    thread.start()
    try:
        assert started.wait(START_SECONDS), "the server did not start"
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(START_SECONDS)
        assert not thread.is_alive(), "the server did not stop"
