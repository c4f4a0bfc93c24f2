"""A model behind an OpenAI-compatible chat-completions server.

The openai package makes the request; the answer's bytes are read by ourselves: its objects
cost four to five times the processor time for each token.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from shared.core.errors import PageturnError
from shared.core.logging import get_logger
from shared.core.settings import Settings
from shared.core.tunables import MODEL_CONNECT_SECONDS, MODEL_DRAIN_SECONDS
from shared.providers.connections import Connection
from workers.clients import CacheKey, Clients
from workers.guarded_http import AddressRefusedError, AnswerRefusedError
from workers.llm import faults
from workers.llm.answer import Answer
from workers.llm.base import ModelError, ModelEvent, ModelRequest
from workers.llm.dialects import DIALECTS, learn
from workers.llm.faults import Fault
from workers.llm.patience import Patience
from workers.llm.wire import request_body

log = get_logger(__name__)


class OpenAIChatModel:
    """A driver bound to a connection. `clients` None: a client for each answer."""

    def __init__(
        self,
        connection: Connection,
        settings: Settings,
        clients: Clients | None = None,
        *,
        cache_key: CacheKey | None = None,
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._clients = clients
        self._cache_key = cache_key
        self._dialect = DIALECTS[connection.driver]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask, again where that may help, and yield the answer as it comes. Raises ModelError."""
        self._check_key()
        clients = self._clients or Clients(self._settings)
        quirks = clients.quirks(self._connection, request.model)
        client = clients.client(self._connection, cache_key=self._cache_key)
        patience = Patience(self._settings)
        try:
            while True:
                said = False
                body = request_body(request, self._dialect, quirks)
                try:
                    async with aclosing(self._answer(client, body)) as batches:
                        async for batch in batches:
                            for event in batch:
                                said = True
                                yield event
                    return
                except Fault as fault:
                    failure = fault
                self._log(failure)
                if said:
                    raise failure.error
                if not _learned(quirks, failure, body):
                    await asyncio.sleep(patience.pause(failure))
        finally:
            if self._clients is None:
                await clients.aclose()
            elif self._cache_key is None:
                await client.close()

    async def _answer(
        self, client: AsyncOpenAI, body: dict[str, Any]
    ) -> AsyncGenerator[list[ModelEvent]]:
        """One request's events, a batch for each piece of the body. Raises Fault."""
        answer = Answer(self._connection.api_key)
        async with self._opened(client, body) as response:
            pieces = response.aiter_raw()
            try:
                while (piece := await self._next(pieces, answer)) is not None:
                    if events := answer.feed(piece):
                        yield events
                    if answer.fault is not None:
                        raise answer.fault
                yield answer.end()
                if answer.fault is not None:
                    raise answer.fault
            except Fault:
                yield answer.usage()
                raise
            await _drain(pieces)

    async def _next(self, pieces: AsyncIterator[bytes], answer: Answer) -> bytes | None:
        """The next piece of the body; None at its end. Raises Fault."""
        if answer.done:
            return None
        try:
            if not answer.finished:
                return await anext(pieces, None)
            async with asyncio.timeout(self._settings.model_tail_seconds):
                return await anext(pieces, None)
        except (TimeoutError, httpx2.TransportError) as error:
            if answer.finished:
                return None  # nothing is lost
            if isinstance(error, httpx2.TimeoutException):
                raise faults.silence(self._settings.model_silence_seconds) from None
            raise faults.broke_off() from None
        except AnswerRefusedError:
            raise faults.bad_response("The provider's answer is larger than allowed.") from None

    @asynccontextmanager
    async def _opened(
        self, client: AsyncOpenAI, body: dict[str, Any]
    ) -> AsyncIterator[httpx2.Response]:
        """The response to a request, closed at the end. Raises Fault."""
        silence = self._settings.model_silence_seconds
        # All of the body is extra: the package would walk through what it knows, field by
        # field, which takes 50 ms for a long conversation.
        opening = client.chat.completions.with_streaming_response.create(
            model=body["model"], messages=[], stream=True, extra_body=body
        )
        try:
            async with asyncio.timeout(silence + MODEL_CONNECT_SECONDS):
                response = await opening.__aenter__()
        except TimeoutError:
            raise faults.silence(silence) from None
        except openai.APIStatusError as error:
            raise self._refused(error.response) from None
        except openai.APIConnectionError as error:
            raise faults.of_transport(error.__cause__, silence) from None
        except httpx2.TransportError as error:  # in the middle of a refusal
            raise faults.of_transport(error, silence) from None
        except (AddressRefusedError, AnswerRefusedError) as error:
            raise _not_allowed(error) from None
        try:
            yield response.http_response
        finally:
            await opening.__aexit__(None, None, None)

    def _refused(self, response: httpx2.Response) -> Fault:
        key = self._connection.api_key
        return faults.of_status(response.status_code, response.text, response.headers, key)

    def _check_key(self) -> None:
        key = self._connection.api_key
        text = "" if key is None else key.get_secret_value()
        if not (text.isascii() and text.isprintable()):
            raise ModelError("The API key holds characters that no key has.", code="provider_auth")

    def _log(self, fault: Fault) -> None:
        error = fault.error
        log.warning(
            "model_failed", code=error.code, status=error.status, driver=self._connection.driver
        )


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the body's end, which comes with the last event or never: a connection that is read
    to its end serves the next request."""
    with contextlib.suppress(TimeoutError, httpx2.TransportError, AnswerRefusedError):
        async with asyncio.timeout(MODEL_DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _learned(quirks: set[str], fault: Fault, body: dict[str, Any]) -> bool:
    if fault.body is None or fault.error.code != "provider_error":
        return False
    return learn(quirks, fault.error.status, fault.body, body)


def _not_allowed(error: PageturnError) -> Fault:
    code = "provider_network" if isinstance(error, AddressRefusedError) else "provider_bad_response"
    return Fault(ModelError(error.message, code=code))
