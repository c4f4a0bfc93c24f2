"""The chunks of pages, with their vectors, per embedding model."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector.sqlalchemy import Vector
from sqlalchemy import Computed, ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.db import Base
from shared.core.ids import new_id


class PageEmbedding(Base):
    """A chunk of a page's text and its vector. `chunk_start` and `chunk_length` count
    characters of the page's plain text; `block_ids` name the blocks that it touches."""

    __tablename__ = "page_embeddings"
    __table_args__ = (
        UniqueConstraint("page_id", "model_name", "chunk_index"),
        Index("ix_page_embeddings_fts", "fts", postgresql_using="gin"),
        Index("ix_page_embeddings_workspace", "workspace_id", "model_name"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    space_id: Mapped[UUID] = mapped_column(ForeignKey("spaces.id", ondelete="CASCADE"))
    page_id: Mapped[UUID] = mapped_column(ForeignKey("pages.id", ondelete="CASCADE"))
    attachment_id: Mapped[UUID | None]
    chunk_index: Mapped[int]
    chunk_start: Mapped[int]
    chunk_length: Mapped[int]
    content: Mapped[str]
    content_hash: Mapped[bytes]
    heading_path: Mapped[list[Any]] = mapped_column(default=list)
    block_ids: Mapped[list[Any]] = mapped_column(default=list)
    model_name: Mapped[str]
    model_dimensions: Mapped[int]
    # No fixed dimension: rows of several models stand side by side.
    embedding: Mapped[Any] = mapped_column(Vector(), nullable=False, deferred=True)
    meta: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict)
    fts: Mapped[str] = mapped_column(
        TSVECTOR, Computed("pageturn_tsv(content)", persisted=True), deferred=True
    )
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
