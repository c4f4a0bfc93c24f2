"""What a send is about: the turn that answers it already, or where a new one goes, and the key
that makes it idempotent. The caller holds the chat."""

import hashlib
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat import branches, repository
from shared.chat.errors import (
    MessageNotFoundError,
    NothingToContinueError,
    NothingToRegenerateError,
)
from shared.chat.models import Chat, Message, Turn
from shared.chat.storing import Place, Send
from shared.core.ids import new_id


async def understand(session: AsyncSession, chat: Chat, send: Send) -> Turn | tuple[Place, str]:
    """The turn that already answers this send, or where a new one goes and its key."""
    shown = await branches.outline(session, chat.head_id)
    match send.trigger:
        case "submit-message":
            return await _submission(session, chat, send, shown)
        case "regenerate-message":
            return await _regeneration(session, chat, send, shown)
        case "continue":
            return await _continuation(session, chat, shown)


async def _submission(
    session: AsyncSession, chat: Chat, send: Send, shown: list[Message]
) -> Turn | tuple[Place, str]:
    """A question: a new one, one asked again in other words, or the same request again."""
    edited = _find(shown, send.target_id, send.client_message_id, role="user")
    if edited is None and send.target_id not in (None, send.client_message_id):
        # A client that names another message than it sends means one that is there.
        edited = await _any_message(session, chat, str(send.target_id), role="user")
        if edited is None:
            raise MessageNotFoundError
    if edited is not None and edited.content == send.text:
        repeated = await _turn_of_question(session, edited)
        if repeated is not None:
            return repeated
    key = _key(chat, send, edited)
    known = await session.scalar(
        select(Turn).where(
            Turn.workspace_id == chat.workspace_id,
            Turn.user_id == chat.creator_id,
            Turn.send_key == key,
        )
    )
    if known is not None:
        if edited is not None:  # these words were tried before, on a branch that is not shown
            chat.head_id = await branches.newest_below(session, known.assistant_message_id)
        return known
    return Place(chat.head_id if edited is None else edited.parent_id), key


async def _regeneration(
    session: AsyncSession, chat: Chat, send: Send, shown: list[Message]
) -> Turn | tuple[Place, str]:
    """Another answer beside one. If the named one is not shown any more, the request is a
    repeated one: what took its place is the answer."""
    answer = _find(shown, send.target_id, None, role="assistant")
    if answer is None and send.target_id is not None:
        hidden = await _any_message(session, chat, send.target_id, role="assistant")
        beside = [m for m in shown if hidden is not None and m.parent_id == hidden.parent_id]
        if beside:
            repeated = await _turn_of_answer(session, beside[0])
            if repeated is not None:
                return repeated
        answer = hidden
    elif answer is None:
        answer = next((m for m in reversed(shown) if m.role == "assistant"), None)
    if answer is None or answer.parent_id is None:
        raise NothingToRegenerateError
    running = await repository.active_turn(session, chat.id)
    if running is not None and running.assistant_message_id == answer.id:
        return running
    return Place(answer.parent_id, await _question_above(session, answer)), _once()


async def _continuation(
    session: AsyncSession, chat: Chat, shown: list[Message]
) -> Turn | tuple[Place, str]:
    """The rest of an answer that was cut off at a limit."""
    if not shown or shown[-1].role != "assistant":
        raise NothingToContinueError
    last = shown[-1]
    if last.meta.get("truncated"):
        return Place(last.id, await _question_above(session, last)), _once()
    if len(shown) > 1 and shown[-2].role == "assistant":  # the same request again
        repeated = await _turn_of_answer(session, last)
        if repeated is not None:
            return repeated
    await repository.refuse_while_running(session, chat)
    raise NothingToContinueError


def _find(
    shown: list[Message], target_id: str | None, client_id: str | None, *, role: str
) -> Message | None:
    """The shown message that a client names, by our id or by its own."""
    for name in (target_id, client_id):
        for message in reversed(shown):
            if (
                name is not None
                and message.role == role
                and name in (str(message.id), message.client_id)
            ):
                return message
    return None


async def _any_message(
    session: AsyncSession, chat: Chat, name: str, *, role: str
) -> Message | None:
    """A message of the chat by our id, shown or not."""
    try:
        message_id = UUID(name)
    except ValueError:
        return None
    return await session.scalar(
        select(Message).where(
            Message.id == message_id, Message.chat_id == chat.id, Message.role == role
        )
    )


async def _question_above(session: AsyncSession, answer: Message) -> Message:
    above = await branches.outline(session, answer.parent_id)
    question = next((m for m in reversed(above) if m.role == "user"), None)
    if question is None:
        raise NothingToRegenerateError
    return question


async def _turn_of_question(session: AsyncSession, question: Message) -> Turn | None:
    """The newest turn that answers a question."""
    return await session.scalar(
        select(Turn)
        .where(Turn.user_message_id == question.id)
        .order_by(Turn.created_at.desc(), Turn.id.desc())
        .limit(1)
    )


async def _turn_of_answer(session: AsyncSession, answer: Message) -> Turn | None:
    return await session.scalar(select(Turn).where(Turn.assistant_message_id == answer.id))


def _key(chat: Chat, send: Send, edited: Message | None) -> str:
    """The identity of a send: an id alone is none, for a client keeps it with a new text."""
    if send.client_message_id is None:
        return _once()
    text_hash = hashlib.sha256(send.text.encode()).hexdigest()
    parts = [str(chat.id), send.trigger, send.client_message_id, text_hash]
    if edited is not None:
        parts.append(str(edited.id))
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


def _once() -> str:
    return f"once:{new_id()}"
