"""Around every request: an id, security headers, one log line, and the last safety nets."""

import asyncio
import time

from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from api.errors import route_of, too_large, too_slow, unexpected
from shared.core.ids import new_id
from shared.core.logging import get_logger

log = get_logger(__name__)

REQUESTS = Counter(
    "pageturn_http_requests_total", "Requests by route and status.", ["method", "route", "status"]
)
SECONDS = Histogram(
    "pageturn_http_request_seconds", "Seconds until the answer's end.", ["method", "route"]
)
_LENGTH_DIGITS = 18  # of a stated length that are read: more is too much in any case
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})  # asked every few seconds

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class RequestMiddleware:
    """Logs method, route, status and time: never the path's ids, the query or a body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = str(new_id())
        started = time.perf_counter()
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_on)
            except Exception as error:
                response = unexpected(scope, error)
                if status == 0:
                    await response(scope, receive, send_on)
            finally:
                _account(scope, status, time.perf_counter() - started)


class BodyLimitMiddleware:
    """Refuses a body above `limit` bytes, by its stated length or while it comes in."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).get("content-length", "")
        if stated.isdecimal() and int(stated[:_LENGTH_DIGITS]) > self._limit:
            await too_large()(scope, receive, send)
            return
        received = 0

        async def receive_on() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise HTTPException(413)
            return message

        await self._app(scope, receive_on, send)


class DeadlineMiddleware:
    """Answers 503 when an answer has not begun after so many seconds, whatever it waits for.

    A stream that has begun has no deadline.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds) as limit:

                async def send_on(message: Message) -> None:
                    limit.reschedule(None)
                    await send(message)

                await self._app(scope, receive, send_on)
        except TimeoutError:
            if not limit.expired():
                raise
            await too_slow()(scope, receive, send)


def _account(scope: Scope, status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in _METHODS else "OTHER"
    route = route_of(scope)
    REQUESTS.labels(method, route, str(status)).inc()
    SECONDS.labels(method, route).observe(seconds)
    if route not in _QUIET:
        log.info("request", method=method, path=route, status=status, ms=round(seconds * 1000, 1))
