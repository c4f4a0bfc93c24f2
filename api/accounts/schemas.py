"""The wire shapes of accounts and spaces."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, model_validator

from api.schemas import ApiModel
from shared.accounts.models import Role, SpaceRole, User, UserSession, Workspace
from shared.accounts.spaces import Membership, OwnSpace
from shared.core.tunables import (
    MAX_EMAIL_CHARS,
    MAX_LINK_TOKEN_CHARS,
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
)

Email = Annotated[str, Field(min_length=1, max_length=MAX_EMAIL_CHARS)]
Password = Annotated[str, Field(max_length=MAX_PASSWORD_CHARS)]


class SignInRequest(ApiModel):
    email: Email
    password: Password


class SignInLinkRequest(ApiModel):
    token: Annotated[str, Field(min_length=1, max_length=MAX_LINK_TOKEN_CHARS)]


class PasswordChange(ApiModel):
    """`currentPassword` may be absent for an account that has none yet."""

    current_password: Password | None = None
    new_password: Password


class UserOut(ApiModel):
    id: UUID
    email: str
    name: str
    role: Role

    @classmethod
    def of(cls, user: User) -> "UserOut":
        return cls(id=user.id, email=user.email, name=user.name, role=Role(user.role))


class WorkspaceOut(ApiModel):
    id: UUID
    name: str


class SignedInOut(ApiModel):
    """The same token is set as an HttpOnly cookie."""

    access_token: str
    user: UserOut


class MeOut(ApiModel):
    """`sessionId` is null for an API key."""

    user: UserOut
    workspace: WorkspaceOut
    session_id: UUID | None

    @classmethod
    def of(cls, user: User, workspace: Workspace, session_id: UUID | None) -> "MeOut":
        return cls(
            user=UserOut.of(user),
            workspace=WorkspaceOut(id=workspace.id, name=workspace.name),
            session_id=session_id,
        )


class SessionOut(ApiModel):
    """`current` marks the session that asks."""

    id: UUID
    user_agent: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    current: bool

    @classmethod
    def of(cls, row: UserSession, current: UUID | None) -> "SessionOut":
        return cls(
            id=row.id,
            user_agent=row.user_agent,
            created_at=row.created_at,
            last_seen_at=row.last_seen_at,
            expires_at=row.expires_at,
            current=row.id == current,
        )


class SessionList(ApiModel):
    items: list[SessionOut]
    next_cursor: str | None = None


class SpaceCreate(ApiModel):
    """Without a slug, one is made from the name."""

    name: Annotated[str, Field(min_length=2, max_length=MAX_NAME_CHARS)]
    slug: Annotated[str | None, Field(min_length=2, max_length=MAX_NAME_CHARS)] = None


class SpaceOut(ApiModel):
    """`role` is the asking person's."""

    id: UUID
    name: str
    slug: str
    role: SpaceRole
    created_at: datetime

    @classmethod
    def of(cls, own: OwnSpace) -> "SpaceOut":
        space = own.space
        return cls(
            id=space.id,
            name=space.name,
            slug=space.slug,
            role=own.role,
            created_at=space.created_at,
        )


class SpaceList(ApiModel):
    items: list[SpaceOut]
    next_cursor: str | None = None


class MemberPut(ApiModel):
    """The person by id or by email."""

    user_id: UUID | None = None
    email: Email | None = None
    role: SpaceRole

    @model_validator(mode="after")
    def _one_of_both(self) -> "MemberPut":
        if (self.user_id is None) == (self.email is None):
            raise ValueError("give either userId or email")
        return self


class MemberOut(ApiModel):
    user_id: UUID
    email: str
    name: str
    role: SpaceRole

    @classmethod
    def of(cls, member: Membership) -> "MemberOut":
        user = member.user
        return cls(user_id=user.id, email=user.email, name=user.name, role=member.role)


class MemberList(ApiModel):
    items: list[MemberOut]
    next_cursor: str | None = None
