"""What `pageturn up` understands of the API's account of itself."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ops import ports
from ops.readiness import missing_parts


class Answer(BaseHTTPRequestHandler):
    """Answers every request with the server's status and body."""

    status = 200
    body = b""

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Tests print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "missing"),
    [
        (200, b"{}", []),
        (503, b'{"checks": {"database": "ok", "chatWorker": "missing"}}', ["chatWorker"]),
        (503, b"<html>", ["api"]),
        (503, b"[]", ["api"]),
        (500, b'{"checks": {"database": "ok"}}', ["api"]),
    ],
)
def test_missing_parts_are_named(
    address: str, status: int, body: bytes, missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answer, "status", status)
    monkeypatch.setattr(Answer, "body", body)
    assert missing_parts(address) == missing


def test_an_api_that_does_not_listen_is_missing() -> None:
    assert missing_parts(f"http://127.0.0.1:{ports.pick()}") == ["api"]
