"""What a workspace's administrators chose about models, and sealed requests to workers."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.db import Base
from shared.core.ids import new_id


class AiSettings(Base):
    """One row a workspace. `version` rises at every change, so that caches know."""

    __tablename__ = "ai_settings"

    workspace_id: Mapped[UUID] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True
    )
    driver: Mapped[str] = mapped_column(default="offline")
    chat_model: Mapped[str] = mapped_column(default="offline")
    embedding_driver: Mapped[str] = mapped_column(default="local")
    embedding_model: Mapped[str] = mapped_column(default="all-MiniLM-L6-v2")
    system_prompt: Mapped[str] = mapped_column(default="")
    chat_enabled: Mapped[bool] = mapped_column(default=True)
    search_enabled: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=1)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class RpcRequest(Base):
    """What the API asks a worker and must not put into a message: sealed, and gone soon."""

    __tablename__ = "rpc_requests"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    sealed: Mapped[bytes]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(index=True)
