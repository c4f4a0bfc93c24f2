"""Chat: send, resume, stop, and the list of one's own chats."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, BackgroundTasks, Depends, Header, Query, Request, Response
from redis.exceptions import RedisError
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import JSONResponse, StreamingResponse

from api.chat.schemas import (
    ChatItem,
    ChatList,
    ChatPatch,
    ChatRequest,
    MessageItem,
    MessageList,
    QueuedAnswer,
    ShowBranch,
    StopResponse,
)
from api.deps import CurrentActor, SecretBoxDep, SessionDep
from api.paging import Cursor, Limit, decode_cursor, encode_cursor
from api.stream.sse import TurnStream
from shared.accounts.actor import Actor
from shared.bus.stream import EventStream, signal_stop
from shared.chat import branches, recovery, repository, sending
from shared.chat.contexts import get_context
from shared.chat.errors import SessionRequiredError
from shared.chat.models import Chat, Turn, TurnStatus
from shared.chat.queueing import Queued
from shared.chat.stopping import request_stop
from shared.chat.sweeping import Sweeper
from shared.core.logging import get_logger
from shared.core.throttle import Throttle
from shared.core.tunables import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from shared.providers import catalogue
from shared.providers.models import AiSettings
from shared.wiki.titles import clean_title

router = APIRouter(tags=["chat"])
log = get_logger(__name__)


def turn_stream(request: Request) -> TurnStream:
    stream: TurnStream = request.app.state.turn_stream
    return stream


def chat_throttle(request: Request) -> Throttle:
    throttle: Throttle = request.app.state.chat_throttle
    return throttle


Streams = Annotated[TurnStream, Depends(turn_stream)]
ChatThrottle = Annotated[Throttle, Depends(chat_throttle)]

_QUEUED: dict[int | str, dict[str, Any]] = {
    202: {"model": QueuedAnswer, "description": "The message waits"}
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "UI message stream v1"}
}


@router.post("/ai/chat/{context}", response_class=StreamingResponse, responses=_STREAM | _QUEUED)
async def send(
    request: Request,
    context: str,
    body: ChatRequest,
    actor: CurrentActor,
    session: SessionDep,
    streams: Streams,
    throttle: ChatThrottle,
    box: SecretBoxDep,
    background: BackgroundTasks,
) -> Response:
    """Ask, and follow the answer on the same response. The same request finds the same turn.

    While an answer is being written, a message with `whenRunning` waits its turn (202).
    """
    await throttle.check(str(actor.user_id))
    turn = await sending.accept(session, actor, get_context(context), body.to_send(), box)
    if isinstance(turn, Queued):
        tell_stopped(background, request, turn.stopped)
        content = QueuedAnswer.of(turn.item).model_dump(mode="json", by_alias=True)
        return JSONResponse(content, status_code=202)
    assert actor.session_id is not None
    return streams.response(turn.id, actor.session_id)


@router.get(
    "/ai/chat/{context}/{chat_id}/stream",
    response_class=StreamingResponse,
    responses=_STREAM | {204: {"description": "Nothing is running"}},
)
async def resume(
    context: str,
    chat_id: str,
    actor: CurrentActor,
    session: SessionDep,
    request: Request,
    streams: Streams,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Follow the running answer; 204 when nothing runs.

    From its start, or with `Last-Event-ID` after that event; where that cannot be done
    without a gap, again from its start.
    """
    chat = await repository.get_chat(session, actor, chat_id, context=get_context(context).name)
    turn = await repository.active_turn(session, chat.id)
    if turn is not None and await recovery.is_stale(session, turn):
        sweeper: Sweeper = request.app.state.sweeper
        await sweeper.sweep()
        turn = await repository.active_turn(session, chat.id)
    if turn is None:
        return Response(status_code=204)
    if actor.session_id is None:
        raise SessionRequiredError
    return streams.response(turn.id, actor.session_id, after=_number(last_event_id))


def _number(last_event_id: str | None) -> int | None:
    """An event's number as we gave it; whatever else a client sends counts as none."""
    text = last_event_id or ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None


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


def tell_stopped(background: BackgroundTasks, request: Request, turn: Turn | None) -> None:
    """Do the same after the answer has left, and so after the commit."""
    if turn is not None:
        background.add_task(_tell, request, turn.id, turn.status)


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
    page_id: Annotated[UUID | None, Query(alias="pageId")] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> ChatList:
    """Your own chats, newest activity first; with `pageId` those that began on that page."""
    before = None if cursor is None else decode_cursor(cursor, datetime.fromisoformat, UUID)
    chats = await repository.list_chats(
        session, actor, before=before, limit=limit + 1, context=context, page_id=page_id
    )
    last = chats[limit - 1] if len(chats) > limit else None
    return ChatList(
        items=await _items(session, actor, chats[:limit]),
        next_cursor=None if last is None else encode_cursor(last.updated_at.isoformat(), last.id),
    )


async def _items(session: AsyncSession, actor: Actor, chats: list[Chat]) -> list[ChatItem]:
    used = await repository.tokens_used(session, [chat.id for chat in chats])
    ai = await session.get(AiSettings, actor.workspace_id)
    ceiling = None if ai is None else ai.token_ceiling
    return [ChatItem.of(chat, used.get(chat.id, 0), ceiling) for chat in chats]


@router.get("/ai/chats/{chat_id}")
async def get_chat(chat_id: UUID, actor: CurrentActor, session: SessionDep) -> ChatItem:
    """One of your chats."""
    chat = await repository.get_chat(session, actor, str(chat_id))
    return (await _items(session, actor, [chat]))[0]


@router.get("/ai/chats/{chat_id}/messages")
async def list_messages(
    chat_id: UUID,
    actor: CurrentActor,
    session: SessionDep,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_MAX,
) -> MessageList:
    """The messages of the branch that is shown, oldest first."""
    chat = await repository.get_chat(session, actor, str(chat_id))
    after = None if cursor is None else decode_cursor(cursor, UUID)[0]
    rows = await branches.branch(session, chat.head_id, after=after, limit=limit + 1)
    beside = await branches.beside(session, chat, rows[:limit])
    return MessageList(
        items=[MessageItem.of(row, beside.get(row.id)) for row in rows[:limit]],
        next_cursor=encode_cursor(rows[limit - 1].id) if len(rows) > limit else None,
    )


@router.post("/ai/chats/{chat_id}/branch", status_code=204)
async def show_branch(
    chat_id: UUID, body: ShowBranch, actor: CurrentActor, session: SessionDep
) -> None:
    """Show the newest branch that goes through a message."""
    chat = await repository.get_chat(session, actor, str(chat_id))
    await branches.show(session, chat, body.message_id)


@router.patch("/ai/chats/{chat_id}")
async def change_chat(
    chat_id: UUID, body: ChatPatch, actor: CurrentActor, session: SessionDep
) -> ChatItem:
    """Give a chat another title, or another model for what is asked from now on."""
    chat = await repository.get_chat(session, actor, str(chat_id))
    if body.title is not None:
        chat.title = clean_title(body.title)
        chat.title_source = "user"
    if body.model is not None:
        ai = await session.get_one(AiSettings, actor.workspace_id)
        chat.model = await catalogue.resolve_model(session, ai, chosen=None, requested=body.model)
    await session.flush()
    return (await _items(session, actor, [chat]))[0]


@router.delete("/ai/chats/{chat_id}", status_code=204)
async def delete_chat(chat_id: UUID, actor: CurrentActor, request: Request) -> None:
    """Put a chat away, and stop what runs in it."""
    async with request.app.state.database.session() as session:
        chat = await repository.get_chat(session, actor, str(chat_id))
        turn = await request_stop(session, chat.id)
        await repository.soft_delete(session, chat)
    if turn is not None:
        await _tell(request, turn.id, turn.status)
