"""One attempt at a turn: claim it, run the loop, and never leave it in between."""

import asyncio
import contextlib
from uuid import UUID

from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import turns
from shared.chat.errors import LostLeaseError
from shared.chat.models import Turn, TurnStatus
from shared.chat.salvage import Entries
from shared.chat.stopping import settle
from shared.chat.turns import Ending
from shared.core.db import database_away
from shared.core.logging import get_logger
from shared.core.tunables import GIVE_BACK_PAUSE_SECONDS
from workers.agent.emitter import Emitter
from workers.agent.keeper import Halt, Keeper
from workers.agent.loop import HandoverError, failure
from workers.agent.preparing import prepare
from workers.llm.base import Model, ModelError
from workers.runtime import Runtime

log = get_logger(__name__)

_INTERNAL = Ending(
    TurnStatus.ERROR,
    error_code="internal",
    error_text="Something went wrong while answering. What was said until then is kept.",
)


async def attempt(
    runtime: Runtime, keeper: Keeper, turn_id: UUID, *, model: Model | None = None
) -> None:
    """Work on a turn if it can be claimed. `model` stands in for the configured one."""
    async with runtime.database.session() as session:
        turn = await turns.claim(
            session,
            turn_id,
            owner=runtime.owner,
            lease_seconds=runtime.settings.lease_seconds,
        )
        silent = None if turn is None else await turns.silent_seconds(session, turn)
    if turn is None:
        return  # redelivered, taken, stopped or done
    runtime.figures.attempt(turn.attempts)
    if silent is not None:
        runtime.figures.recovered(silent + runtime.settings.lease_seconds)
    with keeper.holding(turn_id, turn.epoch) as halt:
        await _attempt(runtime, turn, halt, model)


async def _attempt(runtime: Runtime, turn: Turn, halt: Halt, model: Model | None) -> None:
    try:
        await _run(runtime, turn, halt, model)
    except LostLeaseError:
        log.info("lease_lost", turn_id=str(turn.id), epoch=turn.epoch)
    except HandoverError:
        await _give_back(runtime, turn, counted=False)
    except ModelError as error:  # there is no model to ask
        await _fail(runtime, turn, failure(error))
    except Exception as error:
        if database_away(error):
            log.warning("database_lost", turn_id=str(turn.id), error=type(error).__name__)
            await _give_back(runtime, turn, counted=True)
        else:
            log.exception("attempt_failed", turn_id=str(turn.id))
            await _fail(runtime, turn, _INTERNAL)


async def _run(runtime: Runtime, turn: Turn, halt: Halt, model: Model | None) -> None:
    async def holds_lease() -> bool:
        async with runtime.database.session() as session:
            return bool(
                await session.scalar(
                    select(Turn.id).where(
                        Turn.id == turn.id,
                        Turn.epoch == turn.epoch,
                        Turn.status == TurnStatus.RUNNING,
                    )
                )
            )

    async with Emitter(runtime.stream, turn.id, turn.epoch, holds_lease=holds_lease) as emitter:
        with contextlib.suppress(RedisError, OSError):  # the emitter raises it later then
            await runtime.stream.raise_fence(turn.id, turn.epoch)
        async with runtime.database.session() as session:
            loop = await prepare(runtime, session, turn, emitter, halt, model)
        await loop.run()


async def _give_back(runtime: Runtime, turn: Turn, *, counted: bool) -> None:
    """Back to the queue; `counted`: as an attempt, so that there is an end to them. If the
    database stays away, the lease runs out and the reaper does it."""
    deadline = asyncio.get_running_loop().time() + runtime.settings.lease_seconds
    while asyncio.get_running_loop().time() < deadline:
        try:
            async with runtime.database.session() as session:
                if await turns.release(session, turn.id, turn.epoch, counted=counted):
                    enqueue_after_commit(session, RunTurn(turn_id=turn.id))
            return
        except (DBAPIError, PoolTimeoutError):
            await asyncio.sleep(GIVE_BACK_PAUSE_SECONDS)


async def _fail(runtime: Runtime, turn: Turn, ending: Ending) -> None:
    said: Entries = ()
    with contextlib.suppress(RedisError, OSError):
        said = await runtime.stream.read(turn.id, 0)
    try:
        async with runtime.database.session() as session:
            await turns.hold(session, turn.id, turn.epoch)
            await settle(session, turn.id, ending, said)
        await runtime.stream.hint(turn.id)
    except Exception as error:  # the reaper settles it when the lease has run out
        log.error("fail_not_stored", turn_id=str(turn.id), error=type(error).__name__)
