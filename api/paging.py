"""Pages of lists: a limit, and a cursor that says where the page before ended."""

import base64
import binascii
from collections.abc import Callable
from typing import Annotated, Any

import orjson
from fastapi import Query

from shared.core.errors import BadRequestError
from shared.core.tunables import MAX_CURSOR_CHARS, PAGE_LIMIT_MAX

Limit = Annotated[int, Query(ge=1, le=PAGE_LIMIT_MAX, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Query(max_length=MAX_CURSOR_CHARS, description="The `nextCursor` of the page before."),
]


class InvalidCursorError(BadRequestError):
    """This cursor is not one of ours."""

    code = "invalid_cursor"


def encode_cursor(*parts: object) -> str:
    """An opaque cursor of what orders the list."""
    return base64.urlsafe_b64encode(orjson.dumps([str(part) for part in parts])).decode()


def decode_cursor(cursor: str, *readers: Callable[[str], Any]) -> tuple[Any, ...]:
    """The cursor's parts, each read by its reader. Raises InvalidCursorError."""
    try:
        parts = orjson.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise InvalidCursorError
        if any("\0" in part for part in parts):
            raise InvalidCursorError
        return tuple(read(part) for read, part in zip(readers, parts, strict=True))
    except (binascii.Error, orjson.JSONDecodeError, ValueError, OverflowError) as error:
        raise InvalidCursorError from error
