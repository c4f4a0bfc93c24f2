"""The HTTP client for every address that an administrator, a page or a model can name.

For each connection the host is resolved once, every address that it has is vetted, and a
vetted one is dialled, so that no second answer of a name server counts. TLS goes on checking
the host's name. Redirects are not followed, the environment's proxies are not used.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import lru_cache

import httpcore2
import httpx2

from shared.core.errors import PageturnError
from shared.core.networks import IPAddress, address_allowed
from shared.core.tunables import HTTP_CONNECTIONS, HTTP_IDLE_SECONDS

Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

_IDENTITY = "identity"
_EVENT_STREAM = "text/event-stream"


class AddressRefusedError(PageturnError):
    """Pageturn may not send requests to this host's address: it is private or reserved."""

    code = "address_refused"


class AnswerRefusedError(PageturnError):
    """The answer is larger than allowed."""

    code = "answer_refused"


async def resolve(host: str, port: int) -> list[IPAddress]:
    """What the system says of a host, also of one in numbers. Raises OSError, UnicodeError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(address[0]) for *_, address in found]


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections to vetted addresses only; `dialer` gets addresses, never names."""

    def __init__(
        self, *, private: bool, resolve: Resolve, dialer: httpcore2.AsyncNetworkBackend
    ) -> None:
        self._private = private
        self._resolve = resolve
        self._dialer = dialer

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failure: Exception = httpcore2.ConnectError("the host has no address")
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._vetted(host, port)
                share = None if timeout is None else timeout / max(1, len(addresses))
                for address in addresses:
                    try:
                        return await self._dialer.connect_tcp(
                            str(address), port, share, local_address, socket_options
                        )
                    except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                        failure = error
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout("the host did not answer in time") from error
        raise failure

    async def _vetted(self, host: str, port: int) -> list[IPAddress]:
        """All or none: a name with one forbidden address is not to be trusted."""
        try:
            addresses = await self._resolve(host, port)
        except (socket.gaierror, UnicodeError) as error:
            raise httpcore2.ConnectError("the host's name cannot be resolved") from error
        if not all(address_allowed(address, private=self._private) for address in addresses):
            raise AddressRefusedError
        return list(dict.fromkeys(addresses))


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                raise AnswerRefusedError
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class _GuardedTransport(httpx2.AsyncHTTPTransport):
    """Asks for plain bodies, takes no others, and ends one that grows beyond its limit."""

    def __init__(
        self, pool: httpcore2.AsyncConnectionPool, *, max_bytes: int, max_stream_bytes: int
    ) -> None:
        # Not the base's own pool, which would dial whatever a name says.
        self._pool = pool
        self._max_bytes = max_bytes
        self._max_stream_bytes = max_stream_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = _IDENTITY
        response = await super().handle_async_request(request)
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        try:
            response.stream = _CappedStream(stream, self._limit(response.headers))
        except AnswerRefusedError:
            await stream.aclose()
            raise
        return response

    def _limit(self, headers: httpx2.Headers) -> int:
        """The bytes that the body may have. A small compressed one can hide a huge one."""
        if headers.get("content-encoding", _IDENTITY).strip().lower() not in ("", _IDENTITY):
            raise AnswerRefusedError("The answer is compressed, which was not asked for.")
        streamed = headers.get("content-type", "").partition(";")[0].strip().lower()
        return self._max_stream_bytes if streamed == _EVENT_STREAM else self._max_bytes


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """Made once: to read the system's certificates takes longer than a request."""
    return httpcore2.default_ssl_context()


def guarded_client(
    *,
    private: bool,
    timeout: httpx2.Timeout,
    max_bytes: int,
    max_stream_bytes: int | None = None,
    max_connections: int = HTTP_CONNECTIONS,
    ssl_context: ssl.SSLContext | None = None,
    resolve: Resolve = resolve,
    dialer: httpcore2.AsyncNetworkBackend | None = None,
) -> httpx2.AsyncClient:
    """A client whose requests raise AddressRefusedError where `address_allowed` says no, and
    AnswerRefusedError for a body above `max_bytes` (`max_stream_bytes`, when given, counts for
    an event stream) or a compressed one.

    `private` lets private addresses and loopback pass. The timeouts are those of single steps:
    who calls bounds the whole. Close the client after use.
    """
    backend = GuardedBackend(
        private=private, resolve=resolve, dialer=dialer or httpcore2.AnyIOBackend()
    )
    pool = httpcore2.AsyncConnectionPool(
        ssl_context=ssl_context or _trusted(),
        max_connections=max_connections,
        max_keepalive_connections=max_connections,
        keepalive_expiry=HTTP_IDLE_SECONDS,
        network_backend=backend,
    )
    transport = _GuardedTransport(
        pool, max_bytes=max_bytes, max_stream_bytes=max_stream_bytes or max_bytes
    )
    return httpx2.AsyncClient(
        transport=transport, timeout=timeout, trust_env=False, follow_redirects=False
    )
