"""What a workspace's administrators chose about models, and sealed requests to workers."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Numeric, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.db import Base
from shared.core.ids import new_id


class AiSettings(Base):
    """One row a workspace. `version` rises at every change, so that caches know."""

    __tablename__ = "ai_settings"
    __table_args__ = (
        CheckConstraint("on_disconnect IN ('continue','cancel')", name="on_disconnect"),
    )

    workspace_id: Mapped[UUID] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True
    )
    driver: Mapped[str] = mapped_column(default="offline")
    chat_model: Mapped[str] = mapped_column(default="offline")
    embedding_driver: Mapped[str] = mapped_column(default="local")
    embedding_model: Mapped[str] = mapped_column(default="all-MiniLM-L6-v2")
    # For titles and summaries; None: the chat model.
    small_model: Mapped[str | None]
    system_prompt: Mapped[str] = mapped_column(default="")
    # Tokens; None: what the catalogue says of the model.
    context_window: Mapped[int | None]
    # Tokens that a chat may use altogether; None: no ceiling.
    token_ceiling: Mapped[int | None]
    chat_enabled: Mapped[bool] = mapped_column(default=True)
    search_enabled: Mapped[bool] = mapped_column(default=True)
    mcp_enabled: Mapped[bool] = mapped_column(default=False)
    # Whether an answer goes on when nobody follows it any more: `continue`, or `cancel` after
    # so many seconds.
    on_disconnect: Mapped[str] = mapped_column(default="continue", server_default="continue")
    disconnect_grace_seconds: Mapped[int] = mapped_column(default=60, server_default="60")
    show_model_selector: Mapped[bool] = mapped_column(default=True)
    # Whether the catalogue's first content was put in: an emptied one stays empty.
    catalogue_seeded: Mapped[bool] = mapped_column(default=False)
    version: Mapped[int] = mapped_column(default=1)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class ProviderCredential(Base):
    """A driver's address and keys in a workspace, for chat and for embeddings.

    A key is sealed (`shared.core.secrets`), bound to its row and column, and used only for
    the origin that it was entered for. A base URL that is None is the driver's own.
    """

    __tablename__ = "ai_provider_credentials"
    __table_args__ = (UniqueConstraint("workspace_id", "driver"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    driver: Mapped[str]
    base_url: Mapped[str | None]
    api_key_enc: Mapped[bytes | None]
    api_key_origin: Mapped[str | None]
    embedding_base_url: Mapped[str | None]
    embedding_api_key_enc: Mapped[bytes | None]
    embedding_api_key_origin: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class CatalogueModel(Base):
    """A model that the administrators know: its prices in US dollars per million tokens, its
    window in tokens, and whether people may choose it."""

    __tablename__ = "ai_models"
    __table_args__ = (
        UniqueConstraint("workspace_id", "driver", "model"),
        CheckConstraint("input_price >= 0 AND output_price >= 0", name="prices"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    driver: Mapped[str]
    model: Mapped[str]
    input_price: Mapped[Decimal | None] = mapped_column(Numeric(14, 6))
    output_price: Mapped[Decimal | None] = mapped_column(Numeric(14, 6))
    context_window: Mapped[int | None]
    allowed: Mapped[bool] = mapped_column(default=True)


class RpcRequest(Base):
    """What the API asks a worker and must not put into a message: sealed, and gone soon."""

    __tablename__ = "rpc_requests"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    sealed: Mapped[bytes]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(index=True)
