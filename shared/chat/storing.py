"""The rows of a send: the chat that it belongs to, its message, and the turn that answers."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.permissions import may_see
from shared.chat import repository
from shared.chat.contexts import ChatContext
from shared.chat.errors import ChatNotFoundError, NothingToRegenerateError
from shared.chat.models import Chat, Generation, Message, MessageStatus, Turn
from shared.core.ids import new_id
from shared.core.tunables import CHAT_TITLE_CHARS
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


async def find_or_create_chat(
    session: AsyncSession, actor: Actor, context: ChatContext, send: Send
) -> Chat:
    """The chat that a send names, else a new one. Raises ChatNotFoundError."""
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


async def store_turn(
    session: AsyncSession,
    actor: Actor,
    context: ChatContext,
    chat: Chat,
    send: Send,
    key: str,
    ai: AiSettings,
    replaced: Message | None,
) -> Turn:
    """Question (or the one that is answered again), answer, turn and pending generation."""
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
