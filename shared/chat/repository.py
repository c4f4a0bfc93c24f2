"""Queries over chats and messages. Every one is scoped to the actor's own chats."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, delete, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.chat.errors import ChatNotFoundError, TurnRunningError
from shared.chat.models import ACTIVE, Chat, Generation, QueuedSend, Turn


def own_chats(actor: Actor, context: str | None = None) -> Select[Chat]:
    """The actor's chats that are not deleted, in one context or all."""
    query = select(Chat).where(
        Chat.workspace_id == actor.workspace_id,
        Chat.creator_id == actor.user_id,
        Chat.deleted_at.is_(None),
    )
    return query if context is None else query.where(Chat.context == context)


async def own_ids(session: AsyncSession, actor: Actor, ids: Collection[UUID]) -> set[UUID]:
    """Which of these ids are the actor's own chats that are not deleted."""
    if not ids:
        return set()
    query = own_chats(actor).with_only_columns(Chat.id).where(Chat.id.in_(ids))
    return set(await session.scalars(query))


def _named(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


async def find_chat(
    session: AsyncSession, actor: Actor, name: str, *, context: str | None = None
) -> Chat | None:
    """An own chat by its id or by the alias that a client chose for it."""
    chat_id = _named(name)
    matches = Chat.alias == name
    if chat_id is not None:
        matches = or_(matches, Chat.id == chat_id)
    return await session.scalar(own_chats(actor, context).where(matches).limit(1))


async def get_chat(
    session: AsyncSession, actor: Actor, name: str, *, context: str | None = None
) -> Chat:
    """Raises ChatNotFoundError, for a foreign chat as for an unknown one."""
    chat = await find_chat(session, actor, name, context=context)
    if chat is None:
        raise ChatNotFoundError
    return chat


async def is_taken(session: AsyncSession, name: str) -> bool:
    """Whether some chat, anybody's and even a deleted one, has this id."""
    chat_id = _named(name)
    if chat_id is None:
        return False
    return bool(await session.scalar(select(select(Chat.id).where(Chat.id == chat_id).exists())))


async def list_chats(
    session: AsyncSession,
    actor: Actor,
    *,
    before: tuple[datetime, UUID] | None,
    limit: int,
    context: str | None = None,
    page_id: UUID | None = None,
) -> list[Chat]:
    """Newest activity first; `before` is the last row of the page before. With `page_id` only
    those that began on that page."""
    query = own_chats(actor, context).order_by(Chat.updated_at.desc(), Chat.id.desc())
    if page_id is not None:
        query = query.where(Chat.page_id == page_id)
    if before is not None:
        query = query.where(tuple_(Chat.updated_at, Chat.id) < before)
    return list(await session.scalars(query.limit(limit)))


async def tokens_used(session: AsyncSession, chat_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Tokens of all calls made for each chat; a chat without any is left out."""
    total = func.sum(Generation.input_tokens + Generation.output_tokens)
    rows = await session.execute(
        select(Generation.chat_id, total)
        .where(Generation.chat_id.in_(chat_ids))
        .group_by(Generation.chat_id)
    )
    return {chat_id: int(tokens) for chat_id, tokens in rows if chat_id is not None}


async def active_turn(session: AsyncSession, chat_id: UUID) -> Turn | None:
    return await session.scalar(
        select(Turn).where(Turn.chat_id == chat_id, Turn.status.in_(ACTIVE))
    )


async def locked(session: AsyncSession, chat: Chat) -> Chat:
    """The chat as it is now, held against other sends and switches of branch."""
    return (
        await session.scalars(
            select(Chat)
            .where(Chat.id == chat.id)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
    ).one()


async def refuse_while_running(session: AsyncSession, chat: Chat) -> None:
    """Raises TurnRunningError while an answer is being written."""
    running = await active_turn(session, chat.id)
    if running is not None:
        raise TurnRunningError(details={"turnId": str(running.id), "chatId": str(chat.id)})


async def soft_delete(session: AsyncSession, chat: Chat) -> None:
    """Put a chat away. What waits in it is never sent."""
    chat.deleted_at = func.now()
    await session.execute(delete(QueuedSend).where(QueuedSend.chat_id == chat.id))
    await session.flush()
