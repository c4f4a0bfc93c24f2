"""JSON as providers send it, which is not always quite JSON."""

import json
from typing import Any

import orjson


def loads(raw: bytes) -> Any:
    """The value. Raises ValueError.

    orjson refuses an escaped half of a surrogate pair, control characters inside strings and
    bad UTF-8; the standard library's reader takes them, and the halves meet again downstream.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(raw.decode("utf-8", "replace"), strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def dumps(value: Any) -> str:
    """The value as text. Raises ValueError for one that is nested too deeply."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        pass
    try:
        return json.dumps(value)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def is_object(text: str) -> bool:
    """Whether a text is a whole JSON object."""
    try:
        return isinstance(loads(text.encode("utf-8", "surrogatepass")), dict)
    except ValueError:
        return False
