"""The messages that wait in a chat: to see, to take out, and to send before the others."""

from uuid import UUID

from fastapi import APIRouter, BackgroundTasks, Request

from api.chat.endpoints import tell_stopped
from api.chat.schemas import QueuedAnswer, QueuedItem, QueueList
from api.deps import CurrentActor, SessionDep
from shared.chat import queueing, repository, waiting

router = APIRouter(prefix="/ai/chats/{chat_id}/queue", tags=["chat"])


@router.get("")
async def list_queued(chat_id: str, actor: CurrentActor, session: SessionDep) -> QueueList:
    """What waits in one of your chats."""
    chat = await repository.get_chat(session, actor, chat_id)
    items = await waiting.in_order(session, chat.id)
    held = bool(items) and not await queueing.moves(session, chat.id)
    return QueueList(items=[QueuedItem.of(item) for item in items], held=held)


@router.delete("/{item_id}", status_code=204)
async def remove_queued(
    chat_id: str, item_id: UUID, actor: CurrentActor, session: SessionDep
) -> None:
    """Take a message back that has not been sent."""
    chat = await repository.get_chat(session, actor, chat_id)
    await queueing.remove(session, chat, item_id)


@router.post("/{item_id}/now", status_code=202)
async def send_queued_now(
    chat_id: str,
    item_id: UUID,
    actor: CurrentActor,
    session: SessionDep,
    request: Request,
    background: BackgroundTasks,
) -> QueuedAnswer:
    """Send a message before the others and stop the running answer for it; also one again that
    could not be sent."""
    chat = await repository.get_chat(session, actor, chat_id)
    queued = await queueing.send_now(session, actor, chat, item_id)
    tell_stopped(background, request, queued.stopped)
    return QueuedAnswer.of(queued.item)
