"""Chats, their messages, and the turns that make the answers."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Computed,
    ForeignKey,
    Index,
    Numeric,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.db import Base
from shared.core.ids import new_id


class TurnStatus(StrEnum):
    """A turn's life: queued → running → exactly one of the last three."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    ABORTED = "aborted"
    ERROR = "error"


ACTIVE = (TurnStatus.QUEUED, TurnStatus.RUNNING)


class StopReason(StrEnum):
    """Why a turn was stopped before its end."""

    ASKED = "asked"  # by the person
    INTERRUPTED = "interrupted"  # by a message of theirs that should not wait
    UNATTENDED = "unattended"  # nobody followed it, and the workspace stops such turns


class MessageStatus(StrEnum):
    """The state of a stored message; a person's own is complete from the start."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    ABORTED = "aborted"
    ERROR = "error"


class Chat(Base):
    """A conversation, private to its creator. `alias` is the id that a client chose for it."""

    __tablename__ = "ai_chats"
    __table_args__ = (
        Index(
            "uq_ai_chats_alias",
            "creator_id",
            "alias",
            unique=True,
            postgresql_where=text("alias IS NOT NULL"),
        ),
        Index("ix_ai_chats_recent", "creator_id", "context", "updated_at", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), index=True
    )
    creator_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    context: Mapped[str] = mapped_column(default="tenant")
    alias: Mapped[str | None]
    title: Mapped[str]
    # Who made the title: the first `message`, a `model`, or the `user`, whose title stays.
    title_source: Mapped[str] = mapped_column(default="message", server_default="message")
    # The model that the person chose for this chat; None: the workspace's.
    model: Mapped[str | None]
    # The last message of the branch that is shown.
    head_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("ai_chat_messages.id", ondelete="SET NULL", use_alter=True), index=True
    )
    role_id: Mapped[UUID | None]
    page_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("pages.id", ondelete="SET NULL", use_alter=True)
    )
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    deleted_at: Mapped[datetime | None]


class Message(Base):
    """One message; `parts` is the ordered list that the AI SDK renders.

    A chat's messages form a tree: what answers or follows a message has it as its parent,
    and messages with one parent are branches of which one is shown.
    """

    __tablename__ = "ai_chat_messages"
    __table_args__ = (
        Index("ix_ai_chat_messages_chat", "chat_id", "id"),
        Index("ix_ai_chat_messages_parent", "parent_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    chat_id: Mapped[UUID] = mapped_column(ForeignKey("ai_chats.id", ondelete="CASCADE"))
    parent_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("ai_chat_messages.id", ondelete="CASCADE")
    )
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    role: Mapped[str]
    client_id: Mapped[str | None]
    content: Mapped[str] = mapped_column(default="")
    parts: Mapped[list[Any]] = mapped_column(default=list)
    tool_calls: Mapped[list[Any]] = mapped_column(default=list)
    # `metadata` is taken on a declarative class.
    meta: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict)
    status: Mapped[str] = mapped_column(default=MessageStatus.COMPLETE)
    # For the model: the branch up to and with this message, in a few sentences.
    summary: Mapped[str | None] = mapped_column(deferred=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    tsv: Mapped[str] = mapped_column(
        TSVECTOR,
        Computed("to_tsvector('simple', left(content, 200000))", persisted=True),
        deferred=True,
    )


class Turn(Base):
    """One send and the answer to it. The lease columns decide who may work on it."""

    __tablename__ = "turns"
    __table_args__ = (
        UniqueConstraint("workspace_id", "user_id", "send_key"),
        Index(
            "uq_turns_active_chat",
            "chat_id",
            unique=True,
            postgresql_where=text("status IN ('queued','running')"),
        ),
        Index(
            "ix_turns_active",
            "status",
            "lease_until",
            postgresql_where=text("status IN ('queued','running')"),
        ),
        # How far the queue has come: the newest message that a worker took.
        Index("ix_turns_taken", "enqueued_at", postgresql_where=text("status <> 'queued'")),
        CheckConstraint(
            "status IN ('queued','running','completed','aborted','error')", name="status"
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    chat_id: Mapped[UUID] = mapped_column(ForeignKey("ai_chats.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    session_id: Mapped[UUID] = mapped_column(ForeignKey("user_sessions.id", ondelete="CASCADE"))
    user_message_id: Mapped[UUID] = mapped_column(
        ForeignKey("ai_chat_messages.id", ondelete="CASCADE")
    )
    assistant_message_id: Mapped[UUID] = mapped_column(
        ForeignKey("ai_chat_messages.id", ondelete="CASCADE"), index=True
    )
    context: Mapped[str]
    send_key: Mapped[str]
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("pages.id", ondelete="SET NULL"))
    driver: Mapped[str]
    model: Mapped[str]
    max_steps: Mapped[int]
    # As they were when the turn was accepted: tokens, and dollars per million of them.
    context_window: Mapped[int | None]
    input_price: Mapped[Decimal | None] = mapped_column(Numeric(14, 6))
    output_price: Mapped[Decimal | None] = mapped_column(Numeric(14, 6))

    status: Mapped[str] = mapped_column(default=TurnStatus.QUEUED)
    epoch: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    lease_owner: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    # The end of a lease that ran out, until the turn is claimed again.
    lost_at: Mapped[datetime | None]
    stop_requested_at: Mapped[datetime | None]
    # Why it was stopped: one of StopReason.
    stop_reason: Mapped[str | None]
    # When somebody last followed it; kept only where nobody's following stops a turn.
    attended_at: Mapped[datetime | None]
    enqueued_at: Mapped[datetime | None]
    enqueue_count: Mapped[int] = mapped_column(default=0)

    finish_reason: Mapped[str | None]
    truncated: Mapped[bool] = mapped_column(default=False)
    error_code: Mapped[str | None]
    error_text: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class QueuedSend(Base):
    """A message that waits for the answer before it. `hurried`: it goes before the others.

    One that could not be sent says why, and waits for its person.
    """

    __tablename__ = "ai_queued_sends"
    __table_args__ = (UniqueConstraint("chat_id", "send_key"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    chat_id: Mapped[UUID] = mapped_column(ForeignKey("ai_chats.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    session_id: Mapped[UUID] = mapped_column(ForeignKey("user_sessions.id", ondelete="CASCADE"))
    send_key: Mapped[str]
    text: Mapped[str]
    client_message_id: Mapped[str | None]
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("pages.id", ondelete="SET NULL"))
    model: Mapped[str | None]
    hurried: Mapped[bool] = mapped_column(default=False)
    error_code: Mapped[str | None]
    error_text: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Step(Base):
    """What the model said and asked for in one committed step.

    `parts` are text, reasoning and source parts in order, with tool parts as
    `{"type": "tool", "ordinal": n}`; `seq` is the sequence number of its last event.
    """

    __tablename__ = "turn_steps"

    turn_id: Mapped[UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    parts: Mapped[list[Any]] = mapped_column(default=list)
    seq: Mapped[int] = mapped_column(BigInteger)
    finish_reason: Mapped[str]
    input_tokens: Mapped[int] = mapped_column(default=0)
    output_tokens: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ToolCall(Base):
    """One call that a step asked for. Its identity is (turn, step, ordinal), never the model's."""

    __tablename__ = "turn_tool_calls"
    __table_args__ = (CheckConstraint("status IN ('pending','ok','error')", name="status"),)

    turn_id: Mapped[UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    step: Mapped[int] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    args: Mapped[dict[str, Any]] = mapped_column(default=dict)
    raw_args: Mapped[str | None]
    # When a call to another system left; without an outcome nobody knows what it did there.
    sent_at: Mapped[datetime | None]
    status: Mapped[str] = mapped_column(default="pending")
    result: Mapped[dict[str, Any] | None]
    error_code: Mapped[str | None]
    error_text: Mapped[str | None]
    # What the provider wants to see again with the call (a signature of its thoughts).
    extra: Mapped[dict[str, Any] | None]
    # How to undo a write, in the writing service's own terms.
    inverse: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class Generation(Base):
    """One row a call of a model: made before it, closed after it."""

    __tablename__ = "ai_generations"
    __table_args__ = (
        CheckConstraint("status IN ('pending','success','error')", name="status"),
        Index("ix_ai_generations_workspace", "workspace_id", "created_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    chat_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("ai_chats.id", ondelete="SET NULL"), index=True
    )
    turn_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("turns.id", ondelete="SET NULL"), index=True
    )
    object: Mapped[str]
    type: Mapped[str]
    driver: Mapped[str]
    model: Mapped[str]
    status: Mapped[str] = mapped_column(default="pending")
    error_code: Mapped[str | None]
    # The version of the AI settings that it was made under.
    settings_version: Mapped[int | None]
    input_tokens: Mapped[int] = mapped_column(default=0)
    output_tokens: Mapped[int] = mapped_column(default=0)
    cost_in_cents: Mapped[Decimal] = mapped_column(Numeric(14, 6), default=Decimal(0))
    time_ms: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
