"""Messages that wait while an answer is being written: adding, hurrying and removing them.

Locks are taken in one order: the turn, its chat, a message. The end of a turn does so, too.
"""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.bus.jobs import SendQueued, enqueue_after_commit
from shared.chat import repository, storing, waiting
from shared.chat.errors import QueuedSendNotFoundError, QueueFullError, SessionRequiredError
from shared.chat.models import ACTIVE, Chat, QueuedSend, StopReason, Turn
from shared.chat.stopping import request_stop
from shared.chat.storing import Send
from shared.core.ids import new_id
from shared.core.tunables import MAX_QUEUED_SENDS


@dataclass(frozen=True, slots=True)
class Queued:
    """A message that waits, and the turn that was stopped for it: after the commit the caller
    wakes the worker that holds it."""

    item: QueuedSend
    stopped: Turn | None = None


async def locked_with_turn(session: AsyncSession, chat: Chat) -> Chat:
    """The chat as it is now, held together with the turn that runs in it, if one does."""
    while True:
        attempt = await session.begin_nested()
        held = await session.scalar(
            select(Turn.id)
            .where(Turn.chat_id == chat.id, Turn.status.in_(ACTIVE))
            .with_for_update(key_share=True)
        )
        chat = await repository.locked(session, chat)
        running = await repository.active_turn(session, chat.id)
        if running is None or running.id == held:
            await attempt.commit()
            return chat
        # It began after we had looked: to lock it now would be the wrong order.
        await attempt.rollback()


async def moves(session: AsyncSession, chat_id: UUID) -> bool:
    """Whether a new message has to wait: an answer is being written, or others go before it."""
    if await repository.active_turn(session, chat_id) is not None:
        return True
    return await waiting.next_up(session, chat_id) is not None


async def add(session: AsyncSession, actor: Actor, chat: Chat, send: Send, key: str) -> Queued:
    """Let a message wait, in a chat that the caller holds; for one that interrupts, together
    with its turn. Raises QueueFullError."""
    before = await waiting.in_order(session, chat.id)
    if len(before) >= MAX_QUEUED_SENDS:
        raise QueueFullError(details={"limit": MAX_QUEUED_SENDS})
    assert actor.session_id is not None
    item = QueuedSend(
        id=new_id(),
        workspace_id=actor.workspace_id,
        chat_id=chat.id,
        user_id=actor.user_id,
        session_id=actor.session_id,
        send_key=key,
        text=send.text,
        client_message_id=send.client_message_id,
        page_id=await storing.readable_page(session, actor, send.page_id),
        model=send.model,
    )
    session.add(item)
    chat.updated_at = func.now()
    await session.flush()
    if send.when_running == "interrupt":
        return await hurry(session, chat, item)
    await _go_on(session, chat.id)
    return Queued(item)


async def again(session: AsyncSession, chat: Chat, item: QueuedSend, send: Send) -> Queued:
    """The same request while its message waits. It stops an answer once at most: the one that
    runs now may not be the one that was meant."""
    if send.when_running == "interrupt" and not item.hurried:
        return await hurry(session, chat, item)
    return Queued(item)


async def hurry(session: AsyncSession, chat: Chat, item: QueuedSend) -> Queued:
    """Send a message before the others, and stop what runs; the caller holds both."""
    item.hurried = True
    item.error_code = item.error_text = None
    chat.updated_at = func.now()
    await session.flush()
    stopped = await request_stop(session, chat.id, StopReason.INTERRUPTED)
    await _go_on(session, chat.id)
    return Queued(item, stopped)


async def send_now(session: AsyncSession, actor: Actor, chat: Chat, item_id: UUID) -> Queued:
    """The same as the person's wish, whose session it is sent by from now on.

    Raises QueuedSendNotFoundError and SessionRequiredError.
    """
    if actor.session_id is None:
        raise SessionRequiredError
    chat = await locked_with_turn(session, chat)
    item = await session.scalar(
        select(QueuedSend).where(QueuedSend.id == item_id, QueuedSend.chat_id == chat.id)
    )
    if item is None:
        raise QueuedSendNotFoundError
    item.session_id = actor.session_id
    return await hurry(session, chat, item)


async def remove(session: AsyncSession, chat: Chat, item_id: UUID) -> None:
    """Take a message out of the queue. Raises QueuedSendNotFoundError."""
    chat = await repository.locked(session, chat)
    removed = await session.scalar(
        delete(QueuedSend)
        .where(QueuedSend.id == item_id, QueuedSend.chat_id == chat.id)
        .returning(QueuedSend.id)
    )
    if removed is None:
        raise QueuedSendNotFoundError
    await _go_on(session, chat.id)


async def _go_on(session: AsyncSession, chat_id: UUID) -> None:
    """Where nothing runs whose end would do it, have the next message sent."""
    running = await repository.active_turn(session, chat_id)
    if running is None and await waiting.next_up(session, chat_id) is not None:
        enqueue_after_commit(session, SendQueued(chat_id=chat_id))


async def enqueue_waiting(
    session: AsyncSession, *, pause_seconds: float, depth: int | None
) -> list[UUID]:
    """Have messages sent whose job was lost; the ids of their chats.

    `depth`: how many jobs wait in the queue that such a job goes to. A lost one is certain only
    when there are none, and so no backlog grows where no worker takes them.
    """
    if depth != 0:
        return []
    chats = await waiting.left_lying(session, pause_seconds=pause_seconds)
    for chat_id in chats:
        enqueue_after_commit(session, SendQueued(chat_id=chat_id))
    return chats
