"""All browsers on one thread of their own."""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2

from bench.cluster.people import Person
from bench.cluster.reader import SILENCE_SECONDS, Reader

CLOSE_SECONDS = 10.0


Wanted = tuple[Person, str, str]  # whose request, its method, its path


@dataclass(frozen=True)
class Done:
    """A request: when it was sent and answered (time.monotonic()), and the answer."""

    sent: float
    answered: float
    answer: httpx2.Response


class Readers:
    """`urls` are the APIs that may be asked, in no order."""

    def __init__(self, urls: Callable[[], list[str]]) -> None:
        self._urls = urls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="readers", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self.client: httpx2.AsyncClient

    def start(self) -> None:
        self._thread.start()
        self._on_loop(self._open())

    def stop(self) -> None:
        self._on_loop(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)

    def ask(
        self, person: Person, trial: str, text: str, *, url: str | None = None, **more: Any
    ) -> Reader:
        """Ask in the chat named by the trial's id and follow. `more` goes to the Reader, but
        `message_id` and `extra` (a dictionary) to the request."""
        message = {
            "id": more.pop("message_id", None) or f"message-{uuid4()}",
            "role": "user",
            "parts": [{"type": "text", "text": text}],
        }
        body = {"id": trial, "messages": [message]} | more.pop("extra", {})
        return self._live(Reader(person, trial, body, self._urls, self.client, url, **more))

    def follow(self, person: Person, trial: str, *, url: str | None = None, **more: Any) -> Reader:
        """Follow what runs in a chat, as a second tab or after a reload."""
        return self._live(Reader(person, trial, None, self._urls, self.client, url, **more))

    def _live(self, reader: Reader) -> Reader:
        def begin() -> None:
            task = self._loop.create_task(reader.live())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._loop.call_soon_threadsafe(begin)
        return reader

    def together(self, wanted: Sequence[Wanted], *, within: float = 0.0, **more: Any) -> list[Done]:
        """Requests, each at a random instant of so many seconds and at one of the APIs; their
        answers in order."""

        async def one(person: Person, method: str, path: str) -> Done:
            await asyncio.sleep(random.uniform(0, within))
            url, sent = random.choice(self._urls()) + path, time.monotonic()
            answer = await self.client.request(method, url, headers=person.headers, **more)
            return Done(sent, time.monotonic(), answer)

        async def everyone() -> list[Done]:
            return list(await asyncio.gather(*(one(*each) for each in wanted)))

        return self.run(everyone())

    def run(self, coroutine: Any, seconds: float = 60.0) -> Any:
        """Run another coroutine beside the readers, with their client at hand."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(seconds)

    def _on_loop(self, coroutine: Any) -> None:
        self.run(coroutine, CLOSE_SECONDS)

    async def _open(self) -> None:
        self.client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(10, read=SILENCE_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            trust_env=False,
            verify=False,  # everything is on loopback, in plain HTTP
        )

    async def _close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.client.aclose()
