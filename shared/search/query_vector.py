"""A query's vector, asked of the worker that has the model: both ends of the call.

The text travels in a sealed row, the message names the row, and the answer, which lives a
minute under a Redis key, holds numbers and the model's name.
"""

import asyncio
from array import array
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import delete, func

from shared.bus.jobs import EmbedQuery, enqueue_after_commit
from shared.core.db import Database
from shared.core.ids import new_id
from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.core.tunables import RPC_ROW_SECONDS, SEARCH_VECTOR_WAIT_SECONDS
from shared.providers.models import RpcRequest
from shared.search.vectors import QueryVector

_NO_MODEL = b""


async def query_vector(
    database: Database, redis: "Redis", box: SecretBox, workspace_id: UUID, text: str
) -> QueryVector | None:
    """The vector of `text`; None when no worker answers within SEARCH_VECTOR_WAIT_SECONDS,
    or it has no model. Call it without an open session: it waits."""
    request_id = new_id()
    async with database.session() as session:
        session.add(
            RpcRequest(
                id=request_id,
                workspace_id=workspace_id,
                sealed=box.seal(text.encode("utf-8", "replace"), bound_to=_bound_to(request_id)),
                expires_at=func.now() + timedelta(seconds=RPC_ROW_SECONDS),
            )
        )
        enqueue_after_commit(session, EmbedQuery(request_id=request_id))
    try:
        # The outer limit is for a Redis that does not answer at all.
        async with asyncio.timeout(2 * SEARCH_VECTOR_WAIT_SECONDS):
            answered = await redis.blpop([_key(request_id)], timeout=SEARCH_VECTOR_WAIT_SECONDS)
    except (TimeoutError, RedisError):
        return None
    packed = None if answered is None else answered[1]
    return _unpack(packed) if isinstance(packed, bytes) else None


async def take_request(database: Database, box: SecretBox, request_id: UUID) -> str | None:
    """The text of a request, once; None when it is gone, expired or not readable."""
    async with database.session() as session:
        sealed = await session.scalar(
            delete(RpcRequest)
            .where(RpcRequest.id == request_id, RpcRequest.expires_at > func.now())
            .returning(RpcRequest.sealed)
        )
    if sealed is None:
        return None
    try:
        return box.open(sealed, bound_to=_bound_to(request_id)).decode()
    except UnreadableSecretError:
        return None


async def answer_request(
    redis: "Redis", request_id: UUID, model_name: str | None, values: Sequence[float]
) -> None:
    """Hand the vector to whoever waits; without a model's name: there is none to be had."""
    packed = _NO_MODEL if model_name is None else _pack(model_name, values)
    async with redis.pipeline(transaction=True) as pipeline:
        pipeline.rpush(_key(request_id), packed)
        pipeline.expire(_key(request_id), RPC_ROW_SECONDS)
        await pipeline.execute()


def _key(request_id: UUID) -> str:
    return f"pt:rpc:{request_id}"


def _bound_to(request_id: UUID) -> str:
    return f"rpc:{request_id}"


def _pack(model_name: str, values: Sequence[float]) -> bytes:
    return model_name.encode() + b"\0" + array("f", values).tobytes()


def _unpack(packed: bytes) -> QueryVector | None:
    if packed == _NO_MODEL:
        return None
    name, _, numbers = packed.partition(b"\0")
    values = array("f")
    values.frombytes(numbers)
    return QueryVector(name.decode(), values.tolist())
