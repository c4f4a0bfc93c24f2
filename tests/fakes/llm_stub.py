"""An OpenAI-compatible server on loopback that plays a script: real HTTP, exact bytes.

    async with LlmStub() as stub:
        stub.plays(says("Hello", " there"), error(529, "busy"))
        stub.plays(calls(("searchPages", {"query": "x"})))
        ...                                   # point a client at stub.url (it ends in /v1)
        assert stub.chats[0].body["model"] == "m"
        stub.assert_consumed()

- Each POST …/chat/completions takes the next reply of `plays`. A reply may be a function of the
  request. When the script is used up, `stub.fallback` answers (by default 500 and a complaint).
- `plays_embeddings` and `plays_models` are scripts for /embeddings and GET /models; without one,
  embeddings are what `embedder` answers, or vectors of `dimensions` (or as many as the request
  asks for; float or base64 as asked) and /models lists `models`.
- `strict=True` answers 400 to what strict providers refuse (see `llm_strict.fault`), without
  using a reply up.
- `requests` holds every request in order of arrival, `chats`, `embeddings` and `listings` those of
  one kind: path, headers (lower case), JSON body, arrival, end, `closed_at` (when the client
  closed the connection while its reply was still being played). Times are time.monotonic().
- `connections` counts those ever opened, `live` those open now.
- `await stub.until(condition)` waits until a condition holds, at most some seconds.

`StubThread` is the same on a thread of its own, for tests whose Pageturn is other processes: a
context manager with `url`, `plays`, `requests`, `chats` and a blocking `wait(condition)`; the rest
is at its `stub`.
The replies and their parts are in `llm_script`.
"""

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

import orjson

from tests.fakes import llm_strict
from tests.fakes.installation import wait_for
from tests.fakes.llm_script import CUT, NO_HEAD, RESET, Action, End, Gate, Reply, error, json_reply

Scripted = Reply | Callable[["Recorded"], Reply]
_USED_UP = error(500, "the stub was asked more often than its script says")


@dataclass
class Recorded:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    connection: int
    arrived: float
    ended: float | None = None
    closed_at: float | None = None

    @property
    def body(self) -> Any:
        return orjson.loads(self.raw) if self.raw else None

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])


class _ClientGoneError(Exception):
    pass


@dataclass
class LlmStub:
    strict: bool = False
    dimensions: int = 8
    models: list[str] = field(default_factory=lambda: ["stub"])
    fallback: Scripted = _USED_UP
    embedder: Scripted | None = None
    host: str = "127.0.0.1"
    port: int = 0
    requests: list[Recorded] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._scripts: dict[str, list[Scripted]] = {"chat": [], "embeddings": [], "models": []}
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    def plays(self, *replies: Scripted) -> None:
        self._scripts["chat"] += replies

    def plays_embeddings(self, *replies: Scripted) -> None:
        self._scripts["embeddings"] += replies

    def plays_models(self, *replies: Scripted) -> None:
        self._scripts["models"] += replies

    @property
    def chats(self) -> list[Recorded]:
        return self._of("chat")

    @property
    def embeddings(self) -> list[Recorded]:
        return self._of("embeddings")

    @property
    def listings(self) -> list[Recorded]:
        return self._of("models")

    def _of(self, kind: str) -> list[Recorded]:
        return [request for request in self.requests if _kind(request) == kind]

    def assert_consumed(self) -> None:
        left = {kind: len(script) for kind, script in self._scripts.items() if script}
        assert not left, f"scripted replies that nobody asked for: {left}"

    @property
    def live(self) -> int:
        """Connections that are open now."""
        return len(self._open)

    async def until(self, condition: Callable[[], object], seconds: float = 10.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.005)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        number = self.connections
        writer.transport.set_write_buffer_limits(0)  # so that drain() waits for the socket
        connection = _Connection(reader, writer)
        try:
            while (request := await connection.read(number)) is not None:
                self.requests.append(request)
                try:
                    again = await connection.play(self._reply(request), request)
                finally:
                    request.ended = time.monotonic()
                if not again:
                    break
        except (_ClientGoneError, OSError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    def _reply(self, request: Recorded) -> Reply:
        kind = _kind(request)
        if kind == "chat" and self.strict and (why := llm_strict.fault(request.body)):
            return error(400, why, type="invalid_request_error")
        script = self._scripts.get(kind, [])
        if script:
            chosen: Scripted = script.pop(0)
        elif kind == "embeddings" and self.embedder is not None:
            chosen = self.embedder
        elif kind == "embeddings":
            chosen = json_reply(llm_strict.embeddings(request.body, self.dimensions))
        elif kind == "models":
            listed = [{"id": name, "object": "model", "owned_by": "stub"} for name in self.models]
            chosen = json_reply({"object": "list", "data": listed})
        else:
            chosen = self.fallback if kind == "chat" else error(404, f"no such path {request.path}")
        return chosen if isinstance(chosen, Reply) else chosen(request)


def _kind(request: Recorded) -> str:
    path = request.path.partition("?")[0]
    for method, end, kind in (
        ("POST", "/chat/completions", "chat"),
        ("POST", "/embeddings", "embeddings"),
        ("GET", "/models", "models"),
    ):
        if request.method == method and path.endswith(end):
            return kind
    return "other"


class _Connection:
    """One connection; while a reply is played it watches for the client's going."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ahead = b""
        self._ended_by_us = False

    async def read(self, number: int) -> Recorded | None:
        """The next request; None when the client has gone."""
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
            self._ahead = b""
            first, *lines = head.decode("latin-1").strip().split("\r\n")
            method, path, _ = first.split(" ", 2)
            pairs = (line.partition(":") for line in lines)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            raw = await self._body(headers)
        except (asyncio.IncompleteReadError, OSError):
            return None
        return Recorded(method, path, headers, raw, number, time.monotonic())

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            raw = b""
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                raw += (await self._reader.readexactly(size + 2))[:-2]
            await self._reader.readexactly(2)
            return raw
        return await self._reader.readexactly(int(headers.get("content-length", "0")))

    async def play(self, reply: Reply, request: Recorded) -> bool:
        """Play a reply; whether the connection can take another request."""
        watch = asyncio.create_task(self._watch(request))
        play = asyncio.create_task(self._play(reply))
        try:
            await asyncio.wait({watch, play}, return_when=asyncio.FIRST_COMPLETED)
            if request.closed_at is not None:
                raise _ClientGoneError
            return await play
        finally:
            for task in (watch, play):
                task.cancel()
            await asyncio.gather(watch, play, return_exceptions=True)

    async def _watch(self, request: Recorded) -> None:
        with contextlib.suppress(OSError):
            ahead = await self._reader.read(1)
            if ahead:
                self._ahead += ahead
                return
        if self._ended_by_us:
            return
        request.closed_at = time.monotonic()

    async def _play(self, reply: Reply) -> bool:
        framing = reply.framing
        if reply.status != NO_HEAD:
            await self._write(_head(reply))
        for action in reply.body:
            if isinstance(action, End):
                self._end(action)
                return False
            await self._act(action, chunked=framing == "chunked" and reply.status != NO_HEAD)
        if framing == "chunked":
            await self._write(b"0\r\n\r\n")
        return framing != "close"

    async def _act(self, action: Action, *, chunked: bool) -> None:
        if isinstance(action, bytes):
            if action:
                await self._write(b"%x\r\n%b\r\n" % (len(action), action) if chunked else action)
        elif isinstance(action, Gate):
            while not action.is_set():
                await asyncio.sleep(0.005)
        elif isinstance(action, float | int):
            await asyncio.sleep(action)

    def _end(self, action: End) -> None:
        self._ended_by_us = True
        if action is RESET:
            plain = self._writer.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            assert action is CUT
            self._writer.close()

    async def _write(self, raw: bytes) -> None:
        self._writer.write(raw)
        await self._writer.drain()


def _head(reply: Reply) -> bytes:
    headers = {"content-type": reply.content_type, **reply.headers}
    if reply.framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif reply.framing == "length":
        size = sum(len(action) for action in reply.body if isinstance(action, bytes))
        headers["content-length"] = str(size)
    else:
        headers["connection"] = "close"
    lines = [f"HTTP/1.1 {reply.status} Stub", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class StubThread:
    """`LlmStub` on a thread of its own; takes the same arguments."""

    def __init__(self, **options: Any) -> None:
        self.stub = LlmStub(**options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stub", daemon=True)

    @property
    def url(self) -> str:
        return self.stub.url

    @property
    def requests(self) -> list[Recorded]:
        return self.stub.requests

    @property
    def chats(self) -> list[Recorded]:
        return self.stub.chats

    def plays(self, *replies: Scripted) -> None:
        self.stub.plays(*replies)

    def wait(self, condition: Callable[[], object], seconds: float = 10.0) -> None:
        wait_for(condition, seconds, "the condition holds")

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self.stub.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self.stub.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        self._loop.close()

    def _run(self, work: Awaitable[object]) -> None:
        async def run() -> None:
            await work

        asyncio.run_coroutine_threadsafe(run(), self._loop).result(timeout=10)
