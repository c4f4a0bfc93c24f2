"""Workspaces, people, their sessions, spaces and who belongs to them."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.core.db import Base
from shared.core.ids import new_id


class Role(StrEnum):
    """A person's role in the workspace."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class SpaceRole(StrEnum):
    """A person's role in a space, least first by `rank`."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(SpaceRole).index(self)


class Workspace(Base):
    __tablename__ = "workspaces"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class User(Base):
    __tablename__ = "users"
    __table_args__ = (
        Index("uq_users_email", text("lower(email)"), unique=True),
        CheckConstraint("role IN ('owner','admin','member')", name="role"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), index=True
    )
    email: Mapped[str]
    name: Mapped[str]
    password_hash: Mapped[str | None]
    role: Mapped[str] = mapped_column(default=Role.MEMBER)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    deactivated_at: Mapped[datetime | None]


class UserSession(Base):
    """A signed-in browser. An access token names it; ending it ends the token at once."""

    __tablename__ = "user_sessions"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    user_agent: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class SignInLink(Base):
    """A one-time sign-in link; only the hash of its token is kept."""

    __tablename__ = "sign_in_links"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class ApiKey(Base):
    """A key for programs: it authenticates, but is not an interactive session."""

    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    secret_hash: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    revoked_at: Mapped[datetime | None]


class Space(Base):
    __tablename__ = "spaces"
    __table_args__ = (Index("uq_spaces_slug", "workspace_id", "slug", unique=True),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    workspace_id: Mapped[UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"))
    name: Mapped[str]
    slug: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SpaceMember(Base):
    __tablename__ = "space_members"
    __table_args__ = (CheckConstraint("role IN ('reader','writer','admin')", name="role"),)

    space_id: Mapped[UUID] = mapped_column(
        ForeignKey("spaces.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
