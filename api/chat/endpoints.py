"""Chat: send, resume, stop, and the list of one's own chats."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from redis.exceptions import RedisError
from starlette.responses import StreamingResponse

from api.chat.schemas import (
    ChatItem,
    ChatList,
    ChatPatch,
    ChatRequest,
    MessageItem,
    MessageList,
    StopResponse,
)
from api.deps import CurrentActor, SessionDep
from api.paging import Cursor, Limit, decode_cursor, encode_cursor
from api.stream.sse import TurnStream
from shared.bus.stream import EventStream, signal_stop
from shared.chat import repository, sending
from shared.chat.contexts import get_context
from shared.chat.errors import SessionRequiredError
from shared.chat.models import TurnStatus
from shared.chat.stopping import request_stop
from shared.core.logging import get_logger
from shared.core.tunables import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from shared.wiki.titles import clean_title

router = APIRouter(tags=["chat"])
log = get_logger(__name__)


def turn_stream(request: Request) -> TurnStream:
    stream: TurnStream = request.app.state.turn_stream
    return stream


Streams = Annotated[TurnStream, Depends(turn_stream)]

_STREAM = {200: {"content": {"text/event-stream": {}}, "description": "UI message stream v1"}}


@router.post("/ai/chat/{context}", response_class=StreamingResponse, responses=_STREAM)  # type: ignore[arg-type]
async def send(
    context: str, body: ChatRequest, actor: CurrentActor, session: SessionDep, streams: Streams
) -> StreamingResponse:
    """Ask, and follow the answer on the same response. The same request finds the same turn."""
    turn = await sending.accept(session, actor, get_context(context), body.to_send())
    assert actor.session_id is not None
    return streams.response(turn.id, actor.session_id)


@router.get(
    "/ai/chat/{context}/{chat_id}/stream",
    response_class=StreamingResponse,
    responses=_STREAM | {204: {"description": "Nothing is running"}},  # type: ignore[arg-type]
)
async def resume(
    context: str, chat_id: str, actor: CurrentActor, session: SessionDep, streams: Streams
) -> Response:
    """Follow the running answer from its start; 204 when nothing runs."""
    chat = await repository.get_chat(session, actor, chat_id, context=get_context(context).name)
    turn = await repository.active_turn(session, chat.id)
    if turn is None:
        return Response(status_code=204)
    if actor.session_id is None:
        raise SessionRequiredError
    return streams.response(turn.id, actor.session_id)


@router.post("/ai/chat/{context}/{chat_id}/stop")
async def stop(context: str, chat_id: str, actor: CurrentActor, request: Request) -> StopResponse:
    """Stop the running answer; what was said is kept. A chat at rest stays as it is."""
    async with request.app.state.database.session() as session:
        chat = await repository.get_chat(session, actor, chat_id, context=get_context(context).name)
        turn = await request_stop(session, chat.id)
    if turn is None:
        return StopResponse(stopped=False)
    await _tell(request, turn.id, turn.status)
    return StopResponse(stopped=True, turn_id=turn.id)


async def _tell(request: Request, turn_id: UUID, status: str) -> None:
    """Wake the worker, or the readers of a turn that ended here. A lost signal costs a
    heartbeat."""
    stream: EventStream = request.app.state.event_stream
    try:
        if status == TurnStatus.RUNNING:
            await signal_stop(request.app.state.redis, turn_id)
        else:
            await stream.hint(turn_id)
    except (RedisError, OSError) as error:
        log.warning("stop_signal_lost", turn_id=str(turn_id), error=type(error).__name__)


@router.get("/ai/chats")
async def list_chats(
    actor: CurrentActor,
    session: SessionDep,
    context: str | None = None,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> ChatList:
    """Your own chats, newest activity first."""
    before = None if cursor is None else decode_cursor(cursor, datetime.fromisoformat, UUID)
    chats = await repository.list_chats(
        session, actor, before=before, limit=limit + 1, context=context
    )
    last = chats[limit - 1] if len(chats) > limit else None
    return ChatList(
        items=[ChatItem.of(chat) for chat in chats[:limit]],
        next_cursor=None if last is None else encode_cursor(last.updated_at.isoformat(), last.id),
    )


@router.get("/ai/chats/{chat_id}/messages")
async def list_messages(
    chat_id: UUID,
    actor: CurrentActor,
    session: SessionDep,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_MAX,
) -> MessageList:
    """A chat's messages, oldest first."""
    chat = await repository.get_chat(session, actor, str(chat_id))
    after = None if cursor is None else decode_cursor(cursor, UUID)[0]
    rows = await repository.list_messages(session, chat.id, after=after, limit=limit + 1)
    return MessageList(
        items=[MessageItem.of(row) for row in rows[:limit]],
        next_cursor=encode_cursor(rows[limit - 1].id) if len(rows) > limit else None,
    )


@router.patch("/ai/chats/{chat_id}")
async def rename_chat(
    chat_id: UUID, body: ChatPatch, actor: CurrentActor, session: SessionDep
) -> ChatItem:
    """Give a chat another title."""
    chat = await repository.get_chat(session, actor, str(chat_id))
    chat.title = clean_title(body.title)
    await session.flush()
    return ChatItem.of(chat)


@router.delete("/ai/chats/{chat_id}", status_code=204)
async def delete_chat(chat_id: UUID, actor: CurrentActor, request: Request) -> None:
    """Put a chat away, and stop what runs in it."""
    async with request.app.state.database.session() as session:
        chat = await repository.get_chat(session, actor, str(chat_id))
        turn = await request_stop(session, chat.id)
        await repository.soft_delete(session, chat)
    if turn is not None:
        await _tell(request, turn.id, turn.status)
