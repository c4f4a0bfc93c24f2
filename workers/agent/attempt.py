"""One attempt at a turn: claim it, put the loop together, and never leave it in between."""

import asyncio
import contextlib
from collections.abc import Sequence
from uuid import UUID

from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.models import Role, User, Workspace
from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import turns
from shared.chat.choosing import follow
from shared.chat.errors import LostLeaseError
from shared.chat.generations import price_of
from shared.chat.models import Turn, TurnStatus
from shared.chat.repository import tokens_used
from shared.chat.turns import Ending, TurnState
from shared.core.logging import get_logger
from shared.core.tunables import GIVE_BACK_PAUSE_SECONDS
from shared.providers import catalogue, service
from shared.providers.models import AiSettings
from shared.search.vectors import QueryVector
from shared.tools.registry import tools_for
from shared.wiki.repository import find_page
from workers.agent import history
from workers.agent import small as small_calls
from workers.agent.conversation import Conversation, Summarise
from workers.agent.emitter import Emitter
from workers.agent.history import Exchange
from workers.agent.keeper import Halt, Keeper
from workers.agent.loop import AgentLoop, HandoverError
from workers.agent.prompts import system_prompt
from workers.agent.small import SmallModel
from workers.agent.toolset import Toolset
from workers.llm.base import Model
from workers.llm.drivers import model_for
from workers.llm.offline import OfflineModel
from workers.llm.query import embed_query
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
    if turn is None:
        return  # redelivered, taken, stopped or done
    with keeper.holding(turn_id, turn.epoch) as halt:
        await _attempt(runtime, turn, halt, model)


async def _attempt(runtime: Runtime, turn: Turn, halt: Halt, model: Model | None) -> None:
    try:
        await _run(runtime, turn, halt, model)
    except LostLeaseError:
        log.info("lease_lost", turn_id=str(turn.id), epoch=turn.epoch)
    except HandoverError:
        await _give_back(runtime, turn, counted=False)
    except Exception as error:
        if _database_away(error):
            log.warning("database_lost", turn_id=str(turn.id), error=type(error).__name__)
            await _give_back(runtime, turn, counted=True)
        else:
            log.exception("attempt_failed", turn_id=str(turn.id))
            await _fail(runtime, turn)


def _database_away(error: Exception) -> bool:
    """Whether another attempt may well succeed. What the database refuses, it refuses again."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | PoolTimeoutError)


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
            loop = await _prepare(runtime, session, turn, emitter, halt, model)
        await loop.run()


async def _prepare(
    runtime: Runtime,
    session: AsyncSession,
    turn: Turn,
    emitter: Emitter,
    halt: Halt,
    model: Model | None,
) -> AgentLoop:
    state = await turns.load(session, turn.id)
    if state is None or state.turn.epoch != turn.epoch:
        raise LostLeaseError
    actor = await _actor(session, turn)
    ai = await session.get_one(AiSettings, turn.workspace_id)
    if model is None:
        model = await _model(runtime, session, ai)
    turn = state.turn = await follow(session, state.turn, ai)

    async def embed(text: str) -> QueryVector | None:
        # With search switched off the agent still finds pages by words, and no text of a
        # question leaves for a vector.
        return await embed_query(runtime, turn.workspace_id, text) if ai.search_enabled else None

    return AgentLoop(
        runtime.database,
        state,
        model=model,
        conversation=Conversation(
            await history.before_turn(session, turn),
            system=await _system(session, actor, state, ai),
            size=turn.context_window,
            summarise=await _summariser(runtime, session, turn, ai, model),
        ),
        toolset=Toolset(tools_for(turn.context), runtime.database, actor, embed),
        emitter=emitter,
        halt=halt,
        tokens_left=await _tokens_left(session, turn, ai),
    )


async def _model(runtime: Runtime, session: AsyncSession, ai: AiSettings) -> Model:
    """By the settings of now: a change takes effect with the next answer, in every worker."""
    connection = await service.chat_connection(session, ai, runtime.secrets)
    key = (ai.workspace_id, ai.version)
    return model_for(connection, runtime.settings, runtime.clients, cache_key=key)


async def _summariser(
    runtime: Runtime, session: AsyncSession, turn: Turn, ai: AiSettings, model: Model
) -> Summarise:
    name = ai.small_model or turn.model
    entry = await catalogue.find(session, ai.workspace_id, ai.driver, name)
    small = SmallModel(
        model=model,
        driver=ai.driver,
        name=name,
        price=price_of(entry),
        workspace_id=turn.workspace_id,
        user_id=turn.user_id,
        chat_id=turn.chat_id,
    )

    async def summarise(earlier: str | None, exchanges: Sequence[Exchange]) -> str | None:
        if isinstance(model, OfflineModel):  # it looks at the question alone
            return None
        return await small_calls.summarise(runtime.database, small, earlier, exchanges)

    return summarise


async def _tokens_left(session: AsyncSession, turn: Turn, ai: AiSettings) -> int | None:
    if ai.token_ceiling is None:
        return None
    used = await tokens_used(session, [turn.chat_id])
    return ai.token_ceiling - used.get(turn.chat_id, 0)


async def _actor(session: AsyncSession, turn: Turn) -> Actor:
    user = await session.get_one(User, turn.user_id)
    person = Actor(
        workspace_id=turn.workspace_id,
        user_id=turn.user_id,
        role=Role(user.role),
        session_id=turn.session_id,
    )
    return person.as_agent(chat_id=turn.chat_id, turn_id=turn.id)


async def _system(session: AsyncSession, actor: Actor, state: TurnState, ai: AiSettings) -> str:
    """With the open page's stored title, if the person may (still) read it."""
    workspace = await session.get_one(Workspace, state.turn.workspace_id)
    open_page = None
    if state.turn.page_id is not None:
        page = await find_page(session, actor, state.turn.page_id)
        open_page = None if page is None else (page.id, page.title)
    return system_prompt(workspace.name, ai.system_prompt, open_page)


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


async def _fail(runtime: Runtime, turn: Turn) -> None:
    try:
        async with runtime.database.session() as session:
            await turns.hold(session, turn.id, turn.epoch)
            state = await turns.load(session, turn.id)
            assert state is not None
            await turns.finish(session, state, _INTERNAL)
        await runtime.stream.hint(turn.id)
    except Exception as error:  # the reaper settles it when the lease has run out
        log.error("fail_not_stored", turn_id=str(turn.id), error=type(error).__name__)
