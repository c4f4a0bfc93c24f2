"""Sending what waits in a chat, as the person who wrote it."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.models import Role
from shared.accounts.repository import live_session
from shared.chat import repository, sending, waiting
from shared.chat.errors import SessionEndedError
from shared.chat.models import Chat, QueuedSend
from shared.core.errors import PageturnError
from shared.core.logging import get_logger
from workers.runtime import Runtime

log = get_logger(__name__)


async def send_next(runtime: Runtime, chat_id: UUID) -> None:
    """Send the first message that waits, if it may go and nothing runs in the chat.

    Its row goes and its turn comes in one transaction, under the chat's lock: two of these at
    once make one turn. What refuses it is told on the row, and holds what stands behind it.
    """
    async with runtime.database.session() as session:
        chat = await session.get(Chat, chat_id)
        if chat is None:
            return
        chat = await repository.locked(session, chat)
        if chat.deleted_at is not None:
            return
        if await repository.active_turn(session, chat_id) is not None:
            return
        item = await waiting.next_up(session, chat_id)
        if item is not None:
            await _send(runtime, session, chat, item)


async def _send(runtime: Runtime, session: AsyncSession, chat: Chat, item: QueuedSend) -> None:
    try:
        async with session.begin_nested():
            actor = await _person(session, item)
            await sending.send_queued(session, actor, chat, item, runtime.secrets)
    except PageturnError as error:
        item.error_code, item.error_text = error.code, error.message
    except Exception:  # without the database nothing is told, and a sweep tries again
        log.exception("queued_send_failed", chat_id=str(chat.id))
        item.error_code = "internal"
        item.error_text = "Something went wrong while this message was sent."


async def _person(session: AsyncSession, item: QueuedSend) -> Actor:
    """Raises SessionEndedError."""
    found = await live_session(session, item.session_id)
    if found is None:
        raise SessionEndedError
    live, user = found
    return Actor(user.workspace_id, user.id, Role(user.role), session_id=live.id)
