"""Pages, their versions, and which version the index should hold."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    Computed,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.db import Base
from shared.core.ids import new_id


class Page(Base):
    """A page as it is now. `last_updated_by_id` stays the person when an agent wrote."""

    __tablename__ = "pages"
    __table_args__ = (
        Index("ix_pages_tree", "space_id", "parent_page_id", "position"),
        Index("ix_pages_tsv", "tsv", postgresql_using="gin"),
        Index(
            "ix_pages_title_trgm",
            "title",
            postgresql_using="gin",
            postgresql_ops={"title": "gin_trgm_ops"},
        ),
        CheckConstraint("last_updated_source IN ('user','agent')", name="source"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), index=True
    )
    space_id: Mapped[UUID] = mapped_column(ForeignKey("spaces.id", ondelete="CASCADE"))
    parent_page_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("pages.id", ondelete="SET NULL"), index=True
    )
    slug_id: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    # Fractional position among its siblings: byte order, so the C collation.
    position: Mapped[str] = mapped_column(String(collation="C"))
    content: Mapped[dict[str, Any]] = mapped_column(deferred=True)
    text_content: Mapped[str] = mapped_column(default="", deferred=True)
    version: Mapped[int] = mapped_column(default=1)
    creator_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    last_updated_by_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL")
    )
    last_updated_source: Mapped[str] = mapped_column(default="user", server_default="user")
    last_updated_ai_chat_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("ai_chats.id", ondelete="SET NULL")
    )
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    deleted_at: Mapped[datetime | None]
    # The page whose trashing took this one along; restoring that one restores this.
    deleted_with_id: Mapped[UUID | None]
    tsv: Mapped[str] = mapped_column(
        TSVECTOR, Computed("pageturn_page_tsv(title, text_content)", persisted=True), deferred=True
    )


class PageHistory(Base):
    """One row a saved version: who, by which hand, and in which chat."""

    __tablename__ = "page_history"
    __table_args__ = (UniqueConstraint("page_id", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    page_id: Mapped[UUID] = mapped_column(ForeignKey("pages.id", ondelete="CASCADE"))
    version: Mapped[int]
    title: Mapped[str]
    content: Mapped[dict[str, Any]] = mapped_column(deferred=True)
    last_updated_by_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL")
    )
    last_updated_source: Mapped[str] = mapped_column(server_default=text("'user'"))
    last_updated_ai_chat_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("ai_chats.id", ondelete="SET NULL")
    )
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class PageIndex(Base):
    """One row a page: the version that should be indexed and the one that is."""

    __tablename__ = "page_index"
    __table_args__ = (
        CheckConstraint("state IN ('pending','indexed','error')", name="state"),
        Index("ix_page_index_state", "state", "updated_at"),
    )

    page_id: Mapped[UUID] = mapped_column(
        ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True
    )
    workspace_id: Mapped[UUID] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), index=True
    )
    wanted_version: Mapped[int]
    indexed_version: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(default="pending")
    model_name: Mapped[str | None]
    chunks: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str | None]
    enqueued_at: Mapped[datetime | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
