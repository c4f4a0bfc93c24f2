"""The SQL of accounts: people, their sessions, links and keys."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Row, Select, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.models import (
    ApiKey,
    Role,
    SignInLink,
    User,
    UserSession,
    Workspace,
)


async def find_user(session: AsyncSession, email: str) -> User | None:
    """A person by email, whatever its case; also one who has been deactivated."""
    return await session.scalar(select(User).where(func.lower(User.email) == email.lower()))


async def find_member(session: AsyncSession, workspace_id: UUID, user_id: UUID) -> User | None:
    """An active person of a workspace."""
    return await session.scalar(
        select(User).where(
            User.id == user_id, User.workspace_id == workspace_id, User.deactivated_at.is_(None)
        )
    )


def live_sessions() -> Select[UUID]:
    """The ids of the sessions that have not ended and whose person is active."""
    return (
        select(UserSession.id)
        .join(User, User.id == UserSession.user_id)
        .where(
            UserSession.revoked_at.is_(None),
            UserSession.expires_at > func.now(),
            User.deactivated_at.is_(None),
        )
    )


async def live_session(session: AsyncSession, session_id: UUID) -> Row[UserSession, User] | None:
    """A session that has not ended, with its person, who is active."""
    query = live_sessions().with_only_columns(UserSession, User)
    found = await session.execute(query.where(UserSession.id == session_id))
    return found.one_or_none()


async def touch_session(
    session: AsyncSession, session_id: UUID, *, older_than: timedelta, life: timedelta
) -> None:
    """Note that the session is in use and prolong it, unless that was noted lately."""
    await session.execute(
        update(UserSession)
        .where(UserSession.id == session_id, UserSession.last_seen_at < func.now() - older_than)
        .values(last_seen_at=func.now(), expires_at=func.now() + life)
    )


async def user_of_key(session: AsyncSession, secret_hash: bytes) -> User | None:
    """The active person whose living API key has this hash."""
    return await session.scalar(
        select(User)
        .join(ApiKey, ApiKey.user_id == User.id)
        .where(
            ApiKey.secret_hash == secret_hash,
            ApiKey.revoked_at.is_(None),
            User.deactivated_at.is_(None),
        )
    )


async def use_link(session: AsyncSession, token_hash: bytes) -> User | None:
    """Use a sign-in link up; the person it signs in, or None if it is dead."""
    user_id = await session.scalar(
        update(SignInLink)
        .where(
            SignInLink.token_hash == token_hash,
            SignInLink.used_at.is_(None),
            SignInLink.expires_at > func.now(),
        )
        .values(used_at=func.now())
        .returning(SignInLink.user_id)
    )
    if user_id is None:
        return None
    return await session.scalar(
        select(User).where(User.id == user_id, User.deactivated_at.is_(None))
    )


async def list_sessions(
    session: AsyncSession, user_id: UUID, *, before: tuple[datetime, UUID] | None, limit: int
) -> list[UserSession]:
    """A person's living sessions, newest first; `before` is the last row of the page before."""
    query = (
        select(UserSession)
        .where(
            UserSession.user_id == user_id,
            UserSession.revoked_at.is_(None),
            UserSession.expires_at > func.now(),
        )
        .order_by(UserSession.created_at.desc(), UserSession.id.desc())
        .limit(limit)
    )
    if before is not None:
        at, last_id = before
        query = query.where(
            (UserSession.created_at < at)
            | ((UserSession.created_at == at) & (UserSession.id < last_id))
        )
    return list(await session.scalars(query))


async def end_sessions(
    session: AsyncSession,
    user_id: UUID,
    *,
    only: UUID | None = None,
    spare: UUID | None = None,
) -> int:
    """End a person's living sessions: one, all but one, or all. How many have ended."""
    query = update(UserSession).where(
        UserSession.user_id == user_id, UserSession.revoked_at.is_(None)
    )
    if only is not None:
        query = query.where(UserSession.id == only)
    if spare is not None:
        query = query.where(UserSession.id != spare)
    ended = await session.scalars(query.values(revoked_at=func.now()).returning(UserSession.id))
    return len(ended.all())


async def get_workspace(session: AsyncSession, workspace_id: UUID) -> Workspace:
    return await session.get_one(Workspace, workspace_id)


async def first_workspace(session: AsyncSession) -> Workspace | None:
    return await session.scalar(select(Workspace).order_by(Workspace.created_at).limit(1))


async def list_owners(session: AsyncSession, workspace_id: UUID) -> list[User]:
    """The workspace's active owners, oldest first."""
    return list(
        await session.scalars(
            select(User)
            .where(
                User.workspace_id == workspace_id,
                User.role == Role.OWNER.value,
                User.deactivated_at.is_(None),
            )
            .order_by(User.created_at, User.id)
        )
    )
