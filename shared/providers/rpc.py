"""Short calls that the API waits for and a worker answers: both ends.

The request travels in a sealed row that can be taken once, the message names the row, and
the answer comes back under a Redis key that lives a minute.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import delete, func

from shared.bus.jobs import Job, enqueue_after_commit
from shared.core.db import Database
from shared.core.ids import new_id
from shared.core.secrets import SecretBox
from shared.core.tunables import (
    RPC_LOOK_SECONDS,
    RPC_LOOK_SHORTEST_SECONDS,
    RPC_ROW_SECONDS,
    RPC_SILENCE_SECONDS,
)
from shared.providers.models import RpcRequest


@dataclass(frozen=True, slots=True)
class Taken:
    """A request as the worker gets it."""

    workspace_id: UUID
    payload: bytes


async def ask(
    database: Database,
    redis: "Redis",
    box: SecretBox,
    job: type[Job],
    workspace_id: UUID,
    payload: bytes,
    *,
    wait_seconds: float,
    life_seconds: float = RPC_ROW_SECONDS,
) -> bytes | None:
    """The answer to `job(request_id=…)`; None when none comes within `wait_seconds`.

    The request can be taken for `life_seconds`. Call it without an open session: it waits.
    """
    request_id = new_id()
    async with database.session() as session:
        session.add(
            RpcRequest(
                id=request_id,
                workspace_id=workspace_id,
                sealed=box.seal(payload, bound_to=_bound_to(workspace_id, request_id)),
                expires_at=func.now() + timedelta(seconds=life_seconds),
            )
        )
        enqueue_after_commit(session, job.model_validate({"request_id": request_id}))
    try:
        # The outer limit is for a Redis that does not answer at all.
        async with asyncio.timeout(wait_seconds + min(wait_seconds, RPC_SILENCE_SECONDS)):
            return await _answer_of(redis, request_id, wait_seconds)
    except (TimeoutError, RedisError):
        return None


async def _answer_of(redis: "Redis", request_id: UUID, wait_seconds: float) -> bytes | None:
    """Looks in short turns: a client reads no longer than its socket's timeout."""
    clock = asyncio.get_running_loop().time
    end = clock() + wait_seconds
    while (left := end - clock()) > 0:
        look = max(min(left, RPC_LOOK_SECONDS), RPC_LOOK_SHORTEST_SECONDS)
        answered = await redis.blpop([_key(request_id)], timeout=look)
        if answered is not None and isinstance(answered[1], bytes):
            return answered[1]
    return None


async def take(database: Database, box: SecretBox, request_id: UUID) -> Taken | None:
    """A request, once; None when it is gone or expired. Raises UnreadableSecretError."""
    async with database.session() as session:
        row = (
            await session.execute(
                delete(RpcRequest)
                .where(RpcRequest.id == request_id, RpcRequest.expires_at > func.now())
                .returning(RpcRequest.workspace_id, RpcRequest.sealed)
            )
        ).first()
    if row is None:
        return None
    bound_to = _bound_to(row.workspace_id, request_id)
    return Taken(row.workspace_id, box.open(row.sealed, bound_to=bound_to))


async def answer(redis: "Redis", request_id: UUID, payload: bytes) -> None:
    """Hand the answer to whoever waits. It holds nothing secret: it stands in Redis."""
    async with redis.pipeline(transaction=True) as pipeline:
        pipeline.rpush(_key(request_id), payload)
        pipeline.expire(_key(request_id), RPC_ROW_SECONDS)
        await pipeline.execute()


def _key(request_id: UUID) -> str:
    return f"pt:rpc:{request_id}"


def _bound_to(workspace_id: UUID, request_id: UUID) -> str:
    return f"rpc:{workspace_id}:{request_id}"
