"""Accepting a send: its gates, and the rows of a turn, or of a message that waits.

Sends of one chat follow each other under the chat's lock, so that what is looked up about
its branch stays true until the turn's rows are there.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import queueing, repository, storing, waiting
from shared.chat.choosing import ChosenModel, choose
from shared.chat.contexts import ChatContext, get_context
from shared.chat.errors import (
    ChatDisabledError,
    EmptyPromptError,
    PromptTooLongError,
    SessionRequiredError,
    TokenCeilingError,
)
from shared.chat.models import Chat, QueuedSend, Turn
from shared.chat.queueing import Queued
from shared.chat.storing import Place, Send
from shared.chat.understanding import understand
from shared.core.errors import NotConfiguredError
from shared.core.secrets import SecretBox
from shared.core.tunables import MAX_PROMPT_CHARS
from shared.providers import service
from shared.providers.models import AiSettings
from shared.wiki.titles import has_visible


async def accept(
    session: AsyncSession, actor: Actor, context: ChatContext, send: Send, box: SecretBox
) -> Turn | Queued:
    """The turn that answers a send: its rows are stored, and it is enqueued after the commit.
    Or, where the send may wait and has to, its message in the queue.

    A repeated send finds the same turn or message. Raises the errors of `shared.chat.errors`, of
    `shared.providers.errors` and NotConfiguredError; then nothing has been stored.
    """
    if actor.session_id is None:
        raise SessionRequiredError
    if send.trigger == "submit-message":
        _check_text(send.text)
    ai = await _require_chat(session, actor, box)
    chat = await storing.find_or_create_chat(session, actor, context, send)
    interrupts = send.when_running == "interrupt"
    hold = queueing.locked_with_turn if interrupts else repository.locked
    chat = await hold(session, chat)
    wish = await understand(session, chat, send)
    if isinstance(wish, Turn):
        return wish
    place, key = wish
    if send.when_running != "refuse" and place == Place(chat.head_id):
        queued = await _let_wait(session, actor, chat, ai, send, key)
        if queued is not None:
            return queued
    await repository.refuse_while_running(session, chat)
    model = await _require_model(session, ai, chat, send)
    await waiting.forget(session, chat.id, key)  # sent now, and not once more
    return await _begin(session, actor, context, chat, send, key, model, place)


async def _let_wait(
    session: AsyncSession, actor: Actor, chat: Chat, ai: AiSettings, send: Send, key: str
) -> Queued | None:
    """The send's message in the queue; None when nothing goes before it."""
    item = await waiting.find(session, chat.id, key)
    if item is not None:
        return await queueing.again(session, chat, item, send)
    if not await queueing.moves(session, chat.id):
        return None
    await _require_model(session, ai, chat, send)  # what would fail now is not let wait
    return await queueing.add(session, actor, chat, send, key)


async def send_queued(
    session: AsyncSession, actor: Actor, chat: Chat, item: QueuedSend, box: SecretBox
) -> Turn:
    """The turn of a message that has waited, in a chat at rest that the caller holds.

    Raises as `accept` does.
    """
    ai = await _require_chat(session, actor, box)
    send = Send(
        trigger="submit-message",
        text=item.text,
        client_message_id=item.client_message_id,
        page_id=item.page_id,
        model=item.model,
    )
    model = await _require_model(session, ai, chat, send)
    await session.delete(item)
    context, place = get_context(chat.context), Place(chat.head_id)
    return await _begin(session, actor, context, chat, send, item.send_key, model, place)


async def _begin(
    session: AsyncSession,
    actor: Actor,
    context: ChatContext,
    chat: Chat,
    send: Send,
    key: str,
    model: ChosenModel,
    place: Place,
) -> Turn:
    turn = await storing.store_turn(session, actor, context, chat, send, key, model, place)
    enqueue_after_commit(session, RunTurn(turn_id=turn.id))
    return turn


def _check_text(text: str) -> None:
    if not has_visible(text):
        raise EmptyPromptError
    if len(text) > MAX_PROMPT_CHARS:
        raise PromptTooLongError(details={"limit": MAX_PROMPT_CHARS, "length": len(text)})


async def _require_chat(session: AsyncSession, actor: Actor, box: SecretBox) -> AiSettings:
    ai = await session.get(AiSettings, actor.workspace_id)
    if ai is None:
        raise NotConfiguredError
    if not ai.chat_enabled:
        raise ChatDisabledError
    (await service.chat_connection(session, ai, box)).require_ready()
    return ai


async def _require_model(
    session: AsyncSession, ai: AiSettings, chat: Chat, send: Send
) -> ChosenModel:
    """The model to answer with, while the chat has tokens left for it."""
    if ai.token_ceiling is not None:
        used = (await repository.tokens_used(session, [chat.id])).get(chat.id, 0)
        if used >= ai.token_ceiling:
            raise TokenCeilingError(details={"used": used, "ceiling": ai.token_ceiling})
    return await choose(session, ai, kept=chat.model, requested=send.model)
