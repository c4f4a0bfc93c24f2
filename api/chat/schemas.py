"""The wire shapes of chat. The request is what the AI SDK sends, plus our own fields."""

import hashlib
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from api.schemas import ApiModel
from shared.chat.branches import Beside
from shared.chat.errors import NoUserMessageError, UnsupportedPartError
from shared.chat.models import Chat, Message, QueuedSend
from shared.chat.storing import Send, WhenRunning
from shared.core.errors import InvalidInputError
from shared.core.texts import is_storable
from shared.core.tunables import MAX_CLIENT_ID_CHARS, MAX_TITLE_CHARS

ClientId = Annotated[str, Field(max_length=MAX_CLIENT_ID_CHARS)]


class ChatRequest(ApiModel):
    """`id` is the client's own name of the chat; `chatId` is ours. Of `messages` only the
    last one by the person counts: the conversation is read from the database. `messageId`
    names the answer to make anew, or the question that is asked again in other words;
    `continue` goes on after an answer that was cut off at the limit of steps.

    `whenRunning` says what becomes of a new message while an answer is being written: it is
    refused, waits its turn, or waits first while that answer is stopped. Other requests are
    always refused then."""

    id: ClientId | None = None
    messages: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: ClientId | None = None
    chat_id: ClientId | None = None
    page_id: UUID | None = None
    model: ClientId | None = None
    go_on: Annotated[bool, Field(alias="continue")] = False
    when_running: WhenRunning = "refuse"

    def to_send(self) -> Send:
        """Raises NoUserMessageError, UnsupportedPartError, InvalidInputError."""
        if self.go_on:
            return Send(
                trigger="continue",
                text="",
                chat_id=self.chat_id,
                alias=self.id,
                page_id=self.page_id,
                model=self.model,
            )
        message = next((m for m in reversed(self.messages) if m.get("role") == "user"), None)
        if message is None:
            raise NoUserMessageError
        text, message_id = _text(message), _client_id(message.get("id"))
        return Send(
            trigger=self.trigger,
            text=text,
            client_message_id=message_id,
            target_id=self.message_id,
            chat_id=self.chat_id,
            alias=self.id or _alias_of(message_id, text),
            page_id=self.page_id,
            model=self.model,
            when_running=self.when_running,
        )


def _text(message: dict[str, Any]) -> str:
    parts = message.get("parts", [])
    if not isinstance(parts, list):
        raise InvalidInputError("A message's parts must be a list.")
    texts = []
    for part in parts:
        if not isinstance(part, dict) or part.get("type") != "text":
            raise UnsupportedPartError
        text = part.get("text")
        if not isinstance(text, str):
            raise InvalidInputError("A text part needs a text.")
        texts.append(text)
    text = "\n\n".join(texts)
    if not is_storable(text):
        raise InvalidInputError("The message has characters that cannot be stored.")
    return text


def _client_id(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_CLIENT_ID_CHARS or not value.isprintable():
        raise InvalidInputError("A message's id must be a short text.")
    return value or None


def _alias_of(message_id: str | None, text: str) -> str | None:
    """A name for a chat that its client did not name: the same first message, sent again,
    finds the chat that it made."""
    if message_id is None:
        return None
    return f"first:{hashlib.sha256(f'{message_id}:{text}'.encode()).hexdigest()}"


class StopResponse(ApiModel):
    """`stopped` is false when nothing was running."""

    stopped: bool
    turn_id: UUID | None = None


class ChatItem(ApiModel):
    id: UUID
    context: str
    title: str
    page_id: UUID | None
    role_badge: str | None = None
    model: str | None
    tokens_used: int
    token_ceiling: int | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, chat: Chat, tokens_used: int, token_ceiling: int | None) -> "ChatItem":
        return cls(
            id=chat.id,
            context=chat.context,
            title=chat.title,
            page_id=chat.page_id,
            model=chat.model,
            tokens_used=tokens_used,
            token_ceiling=token_ceiling,
            created_at=chat.created_at,
            updated_at=chat.updated_at,
        )


class ChatList(ApiModel):
    items: list[ChatItem]
    next_cursor: str | None = None


class BranchItem(ApiModel):
    """The messages beside one, itself among them at `index`, oldest first."""

    index: int
    ids: list[UUID]


class MessageItem(ApiModel):
    """`parts` are the AI SDK's message parts, in the order in which they were streamed.

    `hiddenChanges` is what turns on the branches beside this message did to pages: showing
    another branch does not undo it.
    """

    id: UUID
    parent_id: UUID | None
    role: Literal["user", "assistant"]
    parts: list[dict[str, Any]]
    metadata: dict[str, Any]
    status: str
    branch: BranchItem | None
    hidden_changes: list[dict[str, Any]]
    created_at: datetime

    @classmethod
    def of(cls, message: Message, beside: Beside | None) -> "MessageItem":
        branch = None
        if beside is not None:
            branch = BranchItem(index=beside.siblings.index(message.id), ids=beside.siblings)
        return cls.model_validate(
            {
                "id": message.id,
                "parentId": message.parent_id,
                "role": message.role,
                "parts": message.parts,
                "metadata": message.meta,
                "status": message.status,
                "branch": branch,
                "hiddenChanges": [] if beside is None else beside.hidden_changes,
                "createdAt": message.created_at,
            }
        )


class MessageList(ApiModel):
    items: list[MessageItem]
    next_cursor: str | None = None


class QueuedError(ApiModel):
    code: str
    message: str


class QueuedItem(ApiModel):
    """A message that waits; `error` says why it could not be sent when its turn came."""

    id: UUID
    text: str
    created_at: datetime
    error: QueuedError | None

    @classmethod
    def of(cls, row: QueuedSend) -> "QueuedItem":
        error = None
        if row.error_code is not None:
            error = QueuedError(code=row.error_code, message=row.error_text or "")
        return cls(id=row.id, text=row.text, created_at=row.created_at, error=error)


class QueuedAnswer(ApiModel):
    queued: QueuedItem

    @classmethod
    def of(cls, row: QueuedSend) -> "QueuedAnswer":
        return cls(queued=QueuedItem.of(row))


class QueueList(ApiModel):
    """In the order in which they will be sent. `held`: nothing is sent before its person says
    so, because the answer before was stopped or failed, or the first one could not be sent."""

    items: list[QueuedItem]
    held: bool


class ChatPatch(ApiModel):
    """What to change; absent fields stay. A `model` must be one of those offered."""

    title: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)] | None = None
    model: ClientId | None = None


class ShowBranch(ApiModel):
    message_id: UUID
