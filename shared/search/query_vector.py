"""A query's vector, asked of the worker that has the model: both ends of the call.

The answer holds numbers and the model's name.
"""

from array import array
from collections.abc import Sequence
from uuid import UUID

from redis.asyncio import Redis

from shared.bus.jobs import EmbedQuery
from shared.core.db import Database
from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.providers import rpc
from shared.search.vectors import QueryVector

_NO_MODEL = b""


async def query_vector(
    database: Database,
    redis: "Redis",
    box: SecretBox,
    workspace_id: UUID,
    text: str,
    *,
    wait_seconds: float,
) -> QueryVector | None:
    """The vector of `text`; None when no worker answers within `wait_seconds`, or it has no
    model. Call it without an open session: it waits."""
    packed = await rpc.ask(
        database,
        redis,
        box,
        EmbedQuery,
        workspace_id,
        text.encode("utf-8", "replace"),
        wait_seconds=wait_seconds,
    )
    return None if packed is None else _unpack(packed)


async def take_request(
    database: Database, box: SecretBox, request_id: UUID
) -> tuple[UUID, str] | None:
    """A request's workspace and text, once; None when it is gone, expired or not readable."""
    try:
        taken = await rpc.take(database, box, request_id)
    except UnreadableSecretError:
        return None
    return None if taken is None else (taken.workspace_id, taken.payload.decode())


async def answer_request(
    redis: "Redis", request_id: UUID, model_name: str | None, values: Sequence[float]
) -> None:
    """Hand the vector to whoever waits; without a model's name: there is none to be had."""
    packed = _NO_MODEL if model_name is None else _pack(model_name, values)
    await rpc.answer(redis, request_id, packed)


def _pack(model_name: str, values: Sequence[float]) -> bytes:
    return model_name.encode() + b"\0" + array("f", values).tobytes()


def _unpack(packed: bytes) -> QueryVector | None:
    if packed == _NO_MODEL:
        return None
    name, _, numbers = packed.partition(b"\0")
    values = array("f")
    values.frombytes(numbers)
    return QueryVector(name.decode(), values.tolist())
