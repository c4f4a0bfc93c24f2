"""The openai package's clients: one for each workspace and version of its settings.

What a client is comes from a `Connection` and from nothing else. The package would take keys,
addresses, accounts and headers from the environment (OPENAI_API_KEY, OPENAI_BASE_URL,
OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS, …).
"""

import asyncio
import contextlib
import logging
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx2
from openai import AsyncOpenAI, Omit

from shared.core.settings import Settings
from shared.core.tunables import (
    MODEL_ANSWER_BYTES,
    MODEL_CLIENTS,
    MODEL_CONNECT_SECONDS,
    MODEL_QUIRKS,
    MODEL_STREAM_BYTES,
)
from shared.providers.connections import Connection
from workers.guarded_http import guarded_client

# Whatever OPENAI_LOG says: at DEBUG the package logs what is sent.
logging.getLogger("openai").setLevel(logging.WARNING)

CacheKey = tuple[UUID, int]


class _Client(AsyncOpenAI):
    """With headers of ours alone: none of the environment's, nothing about this machine."""

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": "Pageturn",
        }

    def _validate_headers(self, headers: Any, custom_headers: Any) -> None:
        """A provider without a key is asked without one; the package would refuse to."""


def http_client(settings: Settings) -> httpx2.AsyncClient:
    """Its read timeout is a model's silence: it counts anew from each piece of an answer."""
    return guarded_client(
        private=settings.private_models,
        timeout=httpx2.Timeout(MODEL_CONNECT_SECONDS, read=settings.model_silence_seconds),
        max_bytes=MODEL_ANSWER_BYTES,
        max_stream_bytes=MODEL_STREAM_BYTES,
    )


class Clients:
    """Belongs to one event loop.

    A client that has left the cache is closed when nobody holds it any more.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        http: Callable[[Settings], httpx2.AsyncClient] = http_client,
        limit: int = MODEL_CLIENTS,
    ) -> None:
        self._settings = settings
        self._http = http
        self._limit = limit
        self._cached: OrderedDict[tuple[CacheKey, str], tuple[Connection, AsyncOpenAI]]
        self._cached = OrderedDict()
        self._quirks: OrderedDict[tuple[str, str | None, str], set[str]] = OrderedDict()
        self._transports: dict[int, httpx2.AsyncBaseTransport] = {}
        self._made = 0
        self._closing: set[asyncio.Task[None]] = set()

    def client(self, connection: Connection, *, cache_key: CacheKey | None = None) -> AsyncOpenAI:
        """The client for a connection; it does not try again by itself.

        `cache_key` is the workspace with its settings' version. Without one the client is made
        anew.
        """
        if cache_key is None:
            return self._make(connection)
        place = (cache_key, f"{connection.driver} {connection.base_url}")
        known = self._cached.get(place)
        if known is not None and known[0].api_key == connection.api_key:
            self._cached.move_to_end(place)
            return known[1]
        made = self._make(connection)
        self._cached[place] = (connection, made)
        while len(self._cached) > self._limit:
            self._cached.popitem(last=False)
        return made

    def quirks(self, connection: Connection, model: str) -> set[str]:
        """What has been learned of this model at this address; who learns more adds to it."""
        place = (connection.driver, connection.base_url, model)
        learned = self._quirks.setdefault(place, set())
        self._quirks.move_to_end(place)
        while len(self._quirks) > MODEL_QUIRKS:
            self._quirks.popitem(last=False)
        return learned

    async def aclose(self) -> None:
        self._cached.clear()
        while self._transports:
            _, transport = self._transports.popitem()
            await transport.aclose()
        await asyncio.gather(*self._closing)

    def _make(self, connection: Connection) -> AsyncOpenAI:
        assert connection.base_url is not None, "drivers without an address have no client"
        key = connection.api_key
        http = self._http(self._settings)
        self._made += 1
        # A client does not close what it holds when it is dropped; this outlives it to do so.
        self._transports[self._made] = http._transport
        loop = asyncio.get_running_loop()
        weakref.finalize(http, self._dropped, loop, self._made).atexit = False
        # Empty, not None: what is None is taken from the environment.
        return _Client(
            base_url=connection.base_url,
            api_key="" if key is None else key.get_secret_value(),
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
        )

    def _dropped(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        """Called by the garbage collector, on whichever thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._close, number)

    def _close(self, number: int) -> None:
        transport = self._transports.pop(number, None)
        if transport is not None:
            task = asyncio.get_running_loop().create_task(transport.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
