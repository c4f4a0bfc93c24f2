"""The API as a process: its server, on a socket that lets go of peers that take nothing.

python -m api.serve
"""

import socket

import uvicorn

from shared.core.settings import get_settings
from shared.core.tunables import (
    API_GRACE_SECONDS,
    API_KEEP_ALIVE_SECONDS,
    STALLED_READER_SECONDS,
)


def listen(config: uvicorn.Config) -> socket.socket:
    """The socket to serve on, bound. What was sent on a connection of it and is not taken for
    too long ends the connection: closing it would wait for that for ever."""
    bound = config.bind_socket()
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; connections inherit it (tcp(7))
        milliseconds = int(STALLED_READER_SECONDS * 1_000)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    return bound


def main() -> None:
    settings = get_settings()
    config = uvicorn.Config(
        "api.main:app",
        host=settings.host,
        port=settings.port,
        access_log=False,
        timeout_keep_alive=API_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=API_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listen(config)])


if __name__ == "__main__":
    main()
