"""The socket that the API serves on."""

import socket

import uvicorn

from api.serve import listen
from shared.core.tunables import STALLED_READER_SECONDS


def test_a_connection_whose_peer_takes_nothing_ends_by_itself() -> None:
    with listen(uvicorn.Config("api.main:app", host="127.0.0.1", port=0)) as bound:
        bound.listen()
        with socket.create_connection(bound.getsockname()) as client:
            accepted, _ = bound.accept()
            with accepted:
                limit = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                assert limit == STALLED_READER_SECONDS * 1_000
                assert client.getpeername() == bound.getsockname()
