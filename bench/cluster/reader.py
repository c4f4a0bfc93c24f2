"""One person's browser following one turn: asks, is cut off, comes back, reads what is stored.

It does what the web client does: after a stream that broke off it asks for the running answer
again, with growing pauses, on whichever API answers; where nothing runs any more it reads the
stored messages; where its question never arrived it sends the same request once more.
"""

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.cluster.people import Person
from bench.cluster.stored import disagreement, faults_of, stored_answer
from tests.fakes.installation import wait_for
from tests.fakes.ui_message import UiMessage

TENANT = "/v1/ai/chat/tenant"
BACKOFF_FIRST, BACKOFF_MOST = 0.5, 4.0  # seconds; the web client's longest is 15
STALE_SECONDS = 1.5  # between two looks at an answer that is stored as unfinished
SILENCE_SECONDS = 25.0  # without a ping, a connection is dead
OVER = ("finish", "error")


@dataclass
class Connection:
    """One request of the browser's and how it went: an HTTP status, or `broken`."""

    method: str
    url: str
    begun: float
    status: int | str = "open"
    ended: float | None = None
    page: UiMessage = field(default_factory=UiMessage)
    times: list[float] = field(default_factory=list)  # of each chunk, time.monotonic()


@dataclass(eq=False)
class Reader:
    """`end` is `finish:<reason>`, `error:<text>`, `stored:<status>`, `refused:<status>` or
    `never`; `faults` is what was wrong with what the person saw, compared with what is stored.
    """

    person: Person
    trial: str
    body: dict[str, Any] | None  # None: it only follows
    urls: Callable[[], list[str]]
    client: httpx2.AsyncClient
    first_url: str | None = None
    patience: float = 120.0
    after_last: bool = False  # resume by `Last-Event-ID`
    leaves: list[int] = field(default_factory=list)  # it hangs up after so many chunks, each once
    connections: list[Connection] = field(default_factory=list)
    end: str | None = None
    ended_at: float | None = None
    faults: list[str] = field(default_factory=list)
    stored: dict[str, Any] | None = None
    _done: threading.Event = field(default_factory=threading.Event)

    @property
    def page(self) -> UiMessage:
        """What the person sees: the last connection on which something came."""
        pages = self._pages()
        return pages[-1] if pages else UiMessage()

    @property
    def start(self) -> dict[str, Any]:
        """The metadata of the first chunk; empty before it."""
        chunks = self.page.chunks
        return dict(chunks[0].get("messageMetadata", {})) if chunks else {}

    @property
    def turn_id(self) -> str | None:
        return self.start.get("turnId")

    @property
    def chat_id(self) -> str | None:
        return self.start.get("chatId")

    def kinds(self) -> list[str]:
        """The chunks of all connections, in the order in which they came."""
        return [kind for page in self._pages() for kind in page.kinds()]

    def _pages(self) -> list[UiMessage]:
        """What came, on one page for each time that it was begun anew."""
        pages = (connection.page for connection in self.connections if connection.page.chunks)
        return list({id(page): page for page in pages}.values())

    def wait(self, seconds: float = 120.0) -> "Reader":
        """Until the answer has ended for its person."""
        wait_for(self._done.is_set, seconds, f"the reader of {self.trial} sees an end")
        return self

    @property
    def over(self) -> bool:
        return self._done.is_set()

    async def live(self) -> None:
        """The whole life of the browser's tab."""
        try:
            await self._until_over()
            self.ended_at = time.monotonic()
            await self._compare()
        except Exception as error:  # a harness that fails must not look like a turn that holds
            self.end = self.end or f"broken: {error!r}"
            self.faults.append(f"reader failed: {error!r}")
        finally:
            self._done.set()

    async def _until_over(self) -> None:
        deadline, tries = time.monotonic() + self.patience, 0
        self.end = await (self._send() if self.body is not None else self._resume())
        while self.end is None and time.monotonic() < deadline:
            begun = time.monotonic()
            await asyncio.sleep(_backoff(tries))
            self.end = await self._resume()
            tries = 0 if time.monotonic() - begun > 10 else tries + 1
        self.end = self.end or "never"

    async def _send(self) -> str | None:
        connection = await self._exchange("POST", TENANT, json=self.body)
        status = connection.status
        if isinstance(status, int) and 400 <= status < 500:
            return f"refused:{status}"
        return _end_of(connection.page)

    async def _resume(self) -> str | None:
        headers = {}
        if self.after_last and (last := max(self.page.ids, default=0)):
            headers["last-event-id"] = str(last)
        path = f"{TENANT}/{self.trial}/stream"
        connection = await self._exchange("GET", path, headers=headers)
        if connection.status == 204:
            return await self._read_stored()
        if connection.status == 404 and self.body is not None:
            return await self._send()
        if connection.status == 401:
            return "refused:401"
        return _end_of(connection.page)

    async def _read_stored(self) -> str | None:
        """How the answer ended by what is stored; None while it is being written."""
        found = await self._fetch()
        if found is None or found["status"] == "streaming":
            await asyncio.sleep(STALE_SECONDS)
            return None
        return f"stored:{found['status']}"

    async def _fetch(self) -> dict[str, Any] | None:
        for url in self._in_turn():
            try:
                return await stored_answer(self.client, url, self.person, self.page)
            except httpx2.HTTPError:
                continue
        return None

    async def _exchange(self, method: str, path: str, **more: Any) -> Connection:
        """One request, its stream read as far as it goes."""
        headers = self.person.headers | more.pop("headers", {})
        before = self.page if "last-event-id" in headers else UiMessage()
        connection = Connection(method, self._in_turn()[0] + path, time.monotonic())
        self.connections.append(connection)
        try:
            async with self.client.stream(
                method, connection.url, headers=headers, **more
            ) as answer:
                if answer.status_code == 200:
                    most = self.leaves.pop(0) if self.leaves else None
                    await _take_in(answer, connection, before, most)
                connection.status = answer.status_code
        except (httpx2.HTTPError, OSError):
            connection.status = "broken"
        connection.ended = time.monotonic()
        return connection

    def _in_turn(self) -> list[str]:
        """The APIs, another one first after each connection that ended."""
        urls = self.urls()
        if self.first_url in urls:
            urls.remove(self.first_url)
            urls.insert(0, self.first_url)
        turn = len(self.connections) % len(urls)
        return urls[turn:] + urls[:turn]

    async def _compare(self) -> None:
        pages = [c.page for c in self.connections if c.page.chunks]
        self.faults += [
            fault for page in pages for fault in faults_of(page, last=page is pages[-1])
        ]
        if self.end is None or self.end.startswith(("refused", "never")):
            self.faults.append(f"the reader saw no end: {self.end}")
            return
        self.stored = await self._fetch()
        if self.end.startswith("stored"):
            return
        self.faults += disagreement(self.page, self.stored)


async def _take_in(
    answer: httpx2.Response, connection: Connection, seen: UiMessage, most: int | None
) -> None:
    """What was `seen` stays and the rest is added to it, unless it begins anew."""
    async for block in _blocks(answer.aiter_bytes()):
        if block.startswith(b":"):
            continue
        if not connection.page.chunks and b'{"type":"start",' not in block:
            connection.page = seen
        before = len(connection.page.chunks)
        connection.page.feed_bytes(block)
        connection.times += [time.monotonic()] * (len(connection.page.chunks) - before)
        if most is not None and len(connection.times) >= most and _end_of(connection.page) is None:
            return


async def _blocks(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in pieces:
        rest += piece
        *whole, rest = rest.split(b"\n\n")
        for block in whole:
            yield block + b"\n\n"


def _end_of(page: UiMessage) -> str | None:
    for chunk in page.chunks:
        if chunk["type"] == "finish":
            return f"finish:{chunk.get('finishReason')}"
        if chunk["type"] == "error":
            return f"error:{chunk['errorText']}"
    return None


def _backoff(attempt: int) -> float:
    return min(BACKOFF_MOST, BACKOFF_FIRST * 2**attempt) * random.uniform(0.75, 1.25)
