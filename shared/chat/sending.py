"""Accepting a send: gates, the key that makes it idempotent, and the rows of a turn."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import orjson
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.permissions import may_see
from shared.bus.jobs import RunTurn, enqueue_after_commit
from shared.chat import repository
from shared.chat.contexts import ChatContext
from shared.chat.errors import (
    ChatDisabledError,
    ChatNotFoundError,
    EmptyPromptError,
    NothingToRegenerateError,
    PromptTooLongError,
    SessionRequiredError,
    TurnRunningError,
    UnknownModelError,
)
from shared.chat.models import (
    Chat,
    Generation,
    Message,
    MessageStatus,
    Turn,
)
from shared.core.errors import NotConfiguredError
from shared.core.ids import new_id
from shared.core.tunables import CHAT_TITLE_CHARS, MAX_PROMPT_CHARS
from shared.providers.models import AiSettings
from shared.wiki.models import Page

Trigger = Literal["submit-message", "regenerate-message"]


@dataclass(frozen=True, slots=True)
class Send:
    """What a client asks for. `alias` is the id it calls the chat by; `chat_id` is ours.

    `replaced_id` names the answer that a regeneration replaces, where the client says it.
    """

    trigger: Trigger
    text: str
    client_message_id: str | None = None
    replaced_id: UUID | None = None
    chat_id: str | None = None
    alias: str | None = None
    page_id: UUID | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The turn that answers a send; `repeated` when an earlier send had made it."""

    turn_id: UUID
    chat_id: UUID
    repeated: bool


async def accept(session: AsyncSession, actor: Actor, context: ChatContext, send: Send) -> Accepted:
    """Store chat, message, turn and pending generation, to be enqueued after the commit.

    A repeated send finds the same turn. Raises the errors of `shared.chat.errors`, and
    NotConfiguredError; then nothing has been stored.
    """
    if actor.session_id is None:
        raise SessionRequiredError
    if send.trigger == "submit-message":
        _check_text(send.text)
    ai = await _require_configured(session, actor, send)
    chat = await _find_or_create_chat(session, actor, context, send)
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
        return Accepted(earlier.id, earlier.chat_id, repeated=True)
    running = await repository.active_turn(session, chat.id)
    if running is not None:
        if replaced is not None and running.assistant_message_id == replaced.id:
            return Accepted(running.id, running.chat_id, repeated=True)
        raise TurnRunningError(details={"turnId": str(running.id), "chatId": str(chat.id)})
    turn = await _store(session, actor, context, chat, send, key, ai, replaced)
    enqueue_after_commit(session, RunTurn(turn_id=turn.id))
    return Accepted(turn.id, chat.id, repeated=False)


def _check_text(text: str) -> None:
    if not text.strip():
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


async def _find_or_create_chat(
    session: AsyncSession, actor: Actor, context: ChatContext, send: Send
) -> Chat:
    if send.chat_id is not None:
        return await repository.get_chat(session, actor, send.chat_id, context=context.name)
    if send.alias is not None:
        known = await repository.find_chat(session, actor, send.alias, context=context.name)
        if known is not None:
            return known
        if await repository.is_taken(session, send.alias):
            raise ChatNotFoundError
    if send.trigger == "regenerate-message":
        raise ChatNotFoundError
    return await _create_chat(session, actor, context, send)


async def _create_chat(
    session: AsyncSession, actor: Actor, context: ChatContext, send: Send
) -> Chat:
    chat_id = await session.scalar(
        insert(Chat)
        .values(
            id=new_id(),
            workspace_id=actor.workspace_id,
            creator_id=actor.user_id,
            context=context.name,
            alias=send.alias,
            title=_fallback_title(send.text),
            page_id=await _readable_page(session, actor, send.page_id),
        )
        .on_conflict_do_nothing()
        .returning(Chat.id)
    )
    if chat_id is None and send.alias is not None:  # a parallel send of the same chat was first
        chat = await repository.find_chat(session, actor, send.alias, context=context.name)
        if chat is None:
            raise ChatNotFoundError
        return chat
    return await session.get_one(Chat, chat_id)


def _fallback_title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CHAT_TITLE_CHARS else line[: CHAT_TITLE_CHARS - 1].rstrip() + "…"


async def _readable_page(session: AsyncSession, actor: Actor, page_id: UUID | None) -> UUID | None:
    """The open page, if there is such a page and the actor may read it."""
    if page_id is None:
        return None
    visible = may_see(
        actor,
        workspace_id=Page.workspace_id,
        space_id=Page.space_id,
        deleted=Page.deleted_at.is_not(None),
    )
    return await session.scalar(select(Page.id).where(Page.id == page_id, visible))


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


async def _store(
    session: AsyncSession,
    actor: Actor,
    context: ChatContext,
    chat: Chat,
    send: Send,
    key: str,
    ai: AiSettings,
    replaced: Message | None,
) -> Turn:
    if replaced is None:
        await _replace_from(session, chat, await _edited_message(session, chat, send))
        question = await _add_message(session, actor, chat, "user", send)
    else:
        if replaced.replaced_at is not None:
            raise NothingToRegenerateError
        question = await _question_of(session, chat, replaced)
        await _replace_from(session, chat, replaced)
    answer = await _add_message(session, actor, chat, "assistant", None)
    assert actor.session_id is not None
    turn = Turn(
        id=new_id(),
        workspace_id=actor.workspace_id,
        chat_id=chat.id,
        user_id=actor.user_id,
        session_id=actor.session_id,
        user_message_id=question.id,
        assistant_message_id=answer.id,
        context=context.name,
        send_key=key,
        page_id=await _readable_page(session, actor, send.page_id),
        driver=ai.driver,
        model=ai.chat_model,
        max_steps=context.max_steps,
        enqueued_at=func.now(),
        enqueue_count=1,
    )
    session.add(turn)
    await session.flush()
    session.add(
        Generation(
            workspace_id=actor.workspace_id,
            user_id=actor.user_id,
            chat_id=chat.id,
            turn_id=turn.id,
            object="chat",
            type="chat",
            driver=ai.driver,
            model=ai.chat_model,
        )
    )
    await session.execute(update(Chat).where(Chat.id == chat.id).values(updated_at=func.now()))
    return turn


async def _edited_message(session: AsyncSession, chat: Chat, send: Send) -> Message | None:
    """The standing message that a client sends again under its id, with a new text."""
    if send.client_message_id is None:
        return None
    return await session.scalar(
        select(Message).where(
            Message.chat_id == chat.id,
            Message.role == "user",
            Message.client_id == send.client_message_id,
            Message.replaced_at.is_(None),
        )
    )


async def _replace_from(session: AsyncSession, chat: Chat, first: Message | None) -> None:
    """Hide a message and all after it; their rows stay."""
    if first is not None:
        await session.execute(
            update(Message)
            .where(
                Message.chat_id == chat.id,
                Message.id >= first.id,
                Message.replaced_at.is_(None),
            )
            .values(replaced_at=func.now())
        )


async def _question_of(session: AsyncSession, chat: Chat, answer: Message) -> Message:
    question = await session.scalar(
        select(Message)
        .where(Message.chat_id == chat.id, Message.role == "user", Message.id < answer.id)
        .order_by(Message.id.desc())
        .limit(1)
    )
    if question is None:
        raise NothingToRegenerateError
    return question


async def _add_message(
    session: AsyncSession, actor: Actor, chat: Chat, role: str, send: Send | None
) -> Message:
    parts: list[dict[str, Any]] = [] if send is None else [{"type": "text", "text": send.text}]
    message = Message(
        id=new_id(),
        chat_id=chat.id,
        workspace_id=actor.workspace_id,
        user_id=actor.user_id if send is not None else None,
        role=role,
        client_id=None if send is None else send.client_message_id,
        content="" if send is None else send.text,
        parts=parts,
        status=MessageStatus.COMPLETE if send is not None else MessageStatus.STREAMING,
    )
    session.add(message)
    await session.flush()
    return message
