"""The rows of a send: the chat that it belongs to, its message, and the turn that answers."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.permissions import may_see
from shared.chat import repository
from shared.chat.choosing import ChosenModel
from shared.chat.contexts import ChatContext
from shared.chat.errors import ChatNotFoundError
from shared.chat.models import Chat, Generation, Message, MessageStatus, Turn
from shared.core.ids import new_id
from shared.core.tunables import CHAT_TITLE_CHARS
from shared.wiki.models import Page

Trigger = Literal["submit-message", "regenerate-message", "continue"]
WhenRunning = Literal["refuse", "queue", "interrupt"]


@dataclass(frozen=True, slots=True)
class Send:
    """What a client asks for. `alias` is the id it calls the chat by; `chat_id` is ours.

    `target_id` names the message that the send is about: the answer to make anew, or the
    question to ask again in other words. It may be our id or the client's own.
    `when_running`: what becomes of a new message while an answer is being written.
    """

    trigger: Trigger
    text: str
    client_message_id: str | None = None
    target_id: str | None = None
    chat_id: str | None = None
    alias: str | None = None
    page_id: UUID | None = None
    model: str | None = None
    when_running: WhenRunning = "refuse"


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
    if send.trigger != "submit-message":
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
            page_id=await readable_page(session, actor, send.page_id),
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


async def readable_page(session: AsyncSession, actor: Actor, page_id: UUID | None) -> UUID | None:
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn's messages go in the chat's tree. Without a `question`, the send's own
    text becomes one, below `parent_id`; with one, the answer goes below `parent_id`."""

    parent_id: UUID | None
    question: Message | None = None


async def store_turn(
    session: AsyncSession,
    actor: Actor,
    context: ChatContext,
    chat: Chat,
    send: Send,
    key: str,
    model: ChosenModel,
    place: Place,
) -> Turn:
    """Question (or the one that is answered again), answer, turn and pending generation.

    The answer becomes the end of the branch that is shown.
    """
    question, parent_id = place.question, place.parent_id
    if question is None:
        question = await _add_message(session, actor, chat, "user", parent_id, send)
        parent_id = question.id
    answer = await _add_message(session, actor, chat, "assistant", parent_id, None)
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
        page_id=await readable_page(session, actor, send.page_id),
        driver=model.driver,
        model=model.name,
        context_window=model.context_window,
        input_price=model.price.input,
        output_price=model.price.output,
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
            driver=model.driver,
            model=model.name,
            settings_version=model.settings_version,
        )
    )
    chat.head_id = answer.id
    chat.updated_at = func.now()
    if send.model is not None:
        chat.model = send.model
    await session.flush()
    return turn


async def _add_message(
    session: AsyncSession,
    actor: Actor,
    chat: Chat,
    role: str,
    parent_id: UUID | None,
    send: Send | None,
) -> Message:
    parts: list[dict[str, Any]] = [] if send is None else [{"type": "text", "text": send.text}]
    message_id = new_id()
    if parent_id is not None and message_id <= parent_id:
        # Along a branch ids rise, also when this machine's clock is behind another's.
        message_id = UUID(int=parent_id.int + 1)
    message = Message(
        id=message_id,
        chat_id=chat.id,
        parent_id=parent_id,
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
