"""Putting the loop of an attempt together: model, conversation, tools, all by the state of now."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.models import Role, User, Workspace
from shared.chat import turns
from shared.chat.choosing import follow
from shared.chat.errors import LostLeaseError
from shared.chat.generations import price_of
from shared.chat.models import Turn
from shared.chat.repository import tokens_used
from shared.chat.turns import TurnState
from shared.providers import catalogue, service
from shared.providers.models import AiSettings
from shared.search.vectors import QueryVector
from shared.tools.registry import tools_for
from shared.wiki.repository import find_page
from workers.agent import history
from workers.agent import small as small_calls
from workers.agent.agent_pass import AgentPass
from workers.agent.conversation import Conversation, Summarise
from workers.agent.emitter import Emitter
from workers.agent.history import Exchange
from workers.agent.keeper import Halt
from workers.agent.loop import AgentLoop
from workers.agent.prompts import system_prompt
from workers.agent.small import SmallModel
from workers.agent.toolset import Toolset
from workers.llm.base import Model
from workers.llm.drivers import model_for
from workers.llm.offline import OfflineModel
from workers.llm.query import embed_query
from workers.runtime import Runtime


async def prepare(
    runtime: Runtime,
    session: AsyncSession,
    turn: Turn,
    emitter: Emitter,
    halt: Halt,
    model: Model | None,
) -> AgentLoop:
    """The loop of a claimed turn; `model` stands in for the configured one.

    Raises LostLeaseError, and ModelError when the workspace has no model to ask (any more).
    """
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
            summarise=_summariser(runtime, turn, ai, model),
        ),
        toolset=Toolset(
            tools_for(turn.context),
            runtime.database,
            AgentPass(turn, actor, seconds=runtime.settings.agent_token_seconds),
            embed,
            lease_seconds=runtime.settings.lease_seconds,
        ),
        emitter=emitter,
        halt=halt,
        patience=runtime.settings.model_silence_seconds,
        tokens_left=await _tokens_left(session, turn, ai),
    )


async def _model(runtime: Runtime, session: AsyncSession, ai: AiSettings) -> Model:
    """By the settings of now: a change takes effect with the next answer, in every worker."""
    connection = await service.chat_connection(session, ai, runtime.secrets)
    key = (ai.workspace_id, ai.version)
    return model_for(connection, runtime.settings, runtime.clients, cache_key=key)


def _summariser(runtime: Runtime, turn: Turn, ai: AiSettings, model: Model) -> Summarise:
    async def summarise(earlier: str | None, exchanges: Sequence[Exchange]) -> str | None:
        if isinstance(model, OfflineModel):  # it looks at the question alone
            return None
        name = ai.small_model or turn.model
        async with runtime.database.session() as session:
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
