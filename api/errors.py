"""Domain errors as HTTP answers: the one place where they meet a status."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from redis.exceptions import RedisError
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from shared.core import errors
from shared.core.logging import get_logger
from shared.core.tunables import MAX_ERROR_DETAILS

log = get_logger(__name__)

STATUS: tuple[tuple[type[errors.PageturnError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.ForbiddenError, 403),
    (errors.UnauthenticatedError, 401),
    (errors.InvalidInputError, 422),
    (errors.BadRequestError, 400),
    (errors.ConflictError, 409),
    (errors.RateLimitedError, 429),
    (errors.UnavailableError, 503),
    (errors.PageturnError, 500),
)

_HTTP_CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}
_PATH_PART_CHARS = 60


def answer(
    status: int,
    code: str,
    message: str,
    details: Any = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """An error in the shape that every error has."""
    body = {"error": code, "message": message}
    if details is not None:
        body["details"] = details
    return JSONResponse(body, status_code=status, headers=headers)


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(errors.PageturnError, _domain)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for kind in (OperationalError, InterfaceError, PoolTimeoutError, RedisError):
        app.add_exception_handler(kind, _store_away)
    app.add_exception_handler(IntegrityError, _overtaken)
    app.add_exception_handler(DataError, _unstorable)


def _domain(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.PageturnError)
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    headers = {}
    if isinstance(error, errors.RateLimitedError):
        headers["retry-after"] = str(error.retry_after)
    if isinstance(error, errors.UnauthenticatedError):
        headers["www-authenticate"] = "Bearer"
    if status >= 500:
        log.warning("request_refused", code=error.code, path=_route(request))
    return answer(status, error.code, error.message, error.details, headers)


def _invalid(_request: Request, error: Exception) -> Response:
    """Faults in the address are 400, faults in the body 422; input is never repeated."""
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        return answer(400, "malformed_json", "The body is not valid JSON.")
    details = [
        {"path": _path(fault["loc"]), "message": _message(fault)}
        for fault in faults[:MAX_ERROR_DETAILS]
    ]
    in_body = any(fault["loc"] and fault["loc"][0] == "body" for fault in faults)
    first = details[0] if details else {"path": "", "message": "it cannot be read"}
    return answer(
        422 if in_body else 400,
        "invalid_input",
        f"{first['path'] or 'The request'}: {first['message']}",
        details,
    )


def _message(fault: dict[str, Any]) -> str:
    """Pydantic's words, which name our own limits and never the input's text."""
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _path(loc: Sequence[str | int]) -> str:
    """Where a fault is. A part may be a key of the input: cut, and without what cannot be
    sent."""
    parts = []
    for part in loc[1:]:
        text = str(part)[:_PATH_PART_CHARS].encode("utf-8", "backslashreplace").decode()
        parts.append("".join(char if char.isprintable() else "\ufffd" for char in text))
    return ".".join(parts)


_HTTP_MESSAGES = {
    400: "The body cannot be read.",
    404: "There is nothing at this address.",
    405: "This address does not take this method.",
    413: "The body is too large.",
}


def too_large() -> Response:
    """The answer to a body above the limit."""
    return answer(413, _HTTP_CODES[413], _HTTP_MESSAGES[413])


def too_slow() -> Response:
    """The answer to a request whose answer did not begin in time."""
    return answer(503, "timeout", "This takes too long now: try again in a moment.")


def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _HTTP_CODES.get(error.status_code, "error")
    message = _HTTP_MESSAGES.get(error.status_code, error.detail)
    headers = dict(error.headers) if error.headers else None
    return answer(error.status_code, code, message, headers=headers)


def _store_away(request: Request, error: Exception) -> Response:
    log.warning("store_away", error=type(error).__name__, path=_route(request))
    return answer(
        503,
        "unavailable",
        "A store that this needs does not answer now.",
        headers={"retry-after": "2"},
    )


def _overtaken(request: Request, error: Exception) -> Response:
    log.warning("overtaken", error=type(error).__name__, path=_route(request))
    return answer(409, "conflict", "Something that this refers to has changed meanwhile.")


def _unstorable(request: Request, error: Exception) -> Response:
    log.warning("unstorable", error=type(error).__name__, path=_route(request))
    return answer(422, "invalid_input", "The input has a value that cannot be stored.")


def unexpected(scope: Scope, error: BaseException) -> Response:
    """Where it happened is logged; what was in it is not: messages quote values."""
    where = []
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        where.append(f"{'/'.join(file.rsplit('/', 2)[-2:])}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    log.error("internal", error=type(error).__name__, path=route_of(scope), at=where[-8:])
    return answer(500, "internal", "Something went wrong here. It has been logged.")


def route_of(scope: Scope) -> str:
    """The route's template: a path without ids. Routers do not know their own prefix."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return "-"
    prefix = "/v1" if str(scope["path"]).startswith("/v1/") else ""
    return f"{prefix}{path}"


def _route(request: Request) -> str:
    return route_of(request.scope)
