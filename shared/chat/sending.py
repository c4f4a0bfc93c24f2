"""Accepting a send: gates, the key that makes it idempotent, and the rows of a turn."""

import hashlib

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import repository, storing
from shared.chat.contexts import ChatContext
from shared.chat.errors import (
    ChatDisabledError,
    EmptyPromptError,
    NothingToRegenerateError,
    PromptTooLongError,
    SessionRequiredError,
    TurnRunningError,
    UnknownModelError,
)
from shared.chat.models import (
    Chat,
    Message,
    Turn,
)
from shared.chat.storing import Send
from shared.core.errors import NotConfiguredError
from shared.core.ids import new_id
from shared.core.tunables import MAX_PROMPT_CHARS
from shared.providers.models import AiSettings
from shared.wiki.titles import has_visible


async def accept(session: AsyncSession, actor: Actor, context: ChatContext, send: Send) -> Turn:
    """The turn that answers a send: its rows are stored, and it is enqueued after the commit.

    A repeated send finds the same turn. Raises the errors of `shared.chat.errors`, and
    NotConfiguredError; then nothing has been stored.
    """
    if actor.session_id is None:
        raise SessionRequiredError
    if send.trigger == "submit-message":
        _check_text(send.text)
    ai = await _require_configured(session, actor, send)
    chat = await storing.find_or_create_chat(session, actor, context, send)
    # Sends of one chat follow each other, so that the look-ups below stay true.
    await session.execute(select(Chat.id).where(Chat.id == chat.id).with_for_update())

    replaced = await _replaced_answer(session, chat, send)
    key = _send_key(chat, send, replaced)
    earlier = await session.scalar(
        select(Turn).where(
            Turn.workspace_id == actor.workspace_id,
            Turn.user_id == actor.user_id,
            Turn.send_key == key,
        )
    )
    if earlier is not None:
        return earlier
    running = await repository.active_turn(session, chat.id)
    if running is not None:
        if replaced is not None and running.assistant_message_id == replaced.id:
            return running
        raise TurnRunningError(details={"turnId": str(running.id), "chatId": str(chat.id)})
    turn = await storing.store_turn(session, actor, context, chat, send, key, ai, replaced)
    enqueue_after_commit(session, RunTurn(turn_id=turn.id))
    return turn


def _check_text(text: str) -> None:
    if not has_visible(text):
        raise EmptyPromptError
    if len(text) > MAX_PROMPT_CHARS:
        raise PromptTooLongError(details={"limit": MAX_PROMPT_CHARS, "length": len(text)})


async def _require_configured(session: AsyncSession, actor: Actor, send: Send) -> AiSettings:
    ai = await session.get(AiSettings, actor.workspace_id)
    if ai is None:
        raise NotConfiguredError
    if not ai.chat_enabled:
        raise ChatDisabledError
    if send.model is not None and send.model != ai.chat_model:
        raise UnknownModelError
    return ai


async def _replaced_answer(session: AsyncSession, chat: Chat, send: Send) -> Message | None:
    """For a regeneration, the answer that it names, else the last one that stands."""
    if send.trigger == "submit-message":
        return None
    query = select(Message).where(Message.chat_id == chat.id, Message.role == "assistant")
    if send.replaced_id is not None:
        query = query.where(Message.id == send.replaced_id)
    else:
        query = query.where(Message.replaced_at.is_(None)).order_by(Message.id.desc())
    answer = await session.scalar(query.limit(1))
    if answer is None:
        raise NothingToRegenerateError
    return answer


def _send_key(chat: Chat, send: Send, replaced: Message | None) -> str:
    """The identity of a send: an id alone is none, for a client keeps it with a new text."""
    if send.client_message_id is None:
        return f"once:{new_id()}"
    text_hash = hashlib.sha256(send.text.encode()).hexdigest()
    parts = [str(chat.id), send.trigger, send.client_message_id, text_hash]
    if replaced is not None:
        # A repeated request must not regenerate what the first one already replaced.
        parts.append(str(replaced.id))
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()
