"""Queries over the messages that wait in chats. What is hurried goes first, then the oldest.

What waits follows an answer that came to its end. After one that was stopped or failed it waits
for its person, and so does everything behind a message that could not be sent.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat.models import ACTIVE, Chat, QueuedSend, Turn, TurnStatus
from shared.core.tunables import REAPER_BATCH

_ORDER = (QueuedSend.hurried.desc(), QueuedSend.id)
_NEWEST_TURN = (Turn.created_at.desc(), Turn.id.desc())


async def in_order(session: AsyncSession, chat_id: UUID) -> list[QueuedSend]:
    """A chat's messages in the order in which they will be sent."""
    query = select(QueuedSend).where(QueuedSend.chat_id == chat_id).order_by(*_ORDER)
    return list(await session.scalars(query))


async def find(session: AsyncSession, chat_id: UUID, key: str) -> QueuedSend | None:
    """The message that waits under a send's key."""
    return await session.scalar(
        select(QueuedSend).where(QueuedSend.chat_id == chat_id, QueuedSend.send_key == key)
    )


async def forget(session: AsyncSession, chat_id: UUID, key: str) -> None:
    """Take the message with a send's key out of the queue, if it waits there."""
    await session.execute(
        delete(QueuedSend).where(QueuedSend.chat_id == chat_id, QueuedSend.send_key == key)
    )


async def next_up(session: AsyncSession, chat_id: UUID) -> QueuedSend | None:
    """The message to send once nothing runs in the chat; None when there is none or it waits
    for its person."""
    query = select(QueuedSend).where(QueuedSend.chat_id == chat_id).order_by(*_ORDER).limit(1)
    first = await session.scalar(query.execution_options(populate_existing=True))
    if first is None or first.error_code is not None:
        return None
    if first.hurried:
        return first
    last = await session.scalar(
        select(Turn.status).where(Turn.chat_id == chat_id).order_by(*_NEWEST_TURN).limit(1)
    )
    return first if last == TurnStatus.COMPLETED else None


async def left_lying(session: AsyncSession, *, pause_seconds: float) -> list[UUID]:
    """Chats at rest for longer than the pause whose first message should have been sent."""
    first = (
        select(QueuedSend)
        .ext(distinct_on(QueuedSend.chat_id))
        .order_by(QueuedSend.chat_id, *_ORDER)
        .subquery()
    )
    last = (
        select(Turn.status)
        .where(Turn.chat_id == first.c.chat_id)
        .order_by(*_NEWEST_TURN)
        .limit(1)
        .scalar_subquery()
    )
    chats = await session.scalars(
        select(Chat.id)
        .join(first, first.c.chat_id == Chat.id)
        .where(
            Chat.deleted_at.is_(None),
            Chat.updated_at < func.now() - timedelta(seconds=pause_seconds),
            first.c.error_code.is_(None),
            or_(last == TurnStatus.COMPLETED, first.c.hurried & last.not_in(ACTIVE)),
        )
        .limit(REAPER_BATCH)
    )
    return list(chats)
