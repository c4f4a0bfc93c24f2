"""Many signed-in people at once, made by the project's own services in one transaction.

A person may ask 25 times a minute and an address may sign in ten times: trials need more. Each
has a space of its own, for in a shared one their writes wait for each other.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import people, repository, spaces
from shared.accounts.models import Space, SpaceRole, User, UserSession
from shared.accounts.tokens import Claims, encode_token, token_key
from shared.core.db import Database, make_engine
from shared.core.ids import new_id
from shared.core.settings import Settings
from shared.core.tunables import SESSION_DAYS, TOKEN_DAYS


@dataclass(frozen=True)
class Person:
    """Somebody with a living session; `space_id` is a space in which they may write."""

    user_id: UUID
    session_id: UUID
    space_id: UUID
    email: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


async def make_people(settings: Settings, count: int) -> list[Person]:
    """New members, writers in spaces whose admin is the owner."""
    async with _session(settings) as session:
        workspace = await repository.first_workspace(session)
        assert workspace is not None
        owner = (await repository.list_owners(session, workspace.id))[0]
        return [await _make(session, settings, owner) for _ in range(count)]


async def sign_owner_in(settings: Settings) -> Person:
    """The workspace's owner, with the first space that there is."""
    async with _session(settings) as session:
        workspace = await repository.first_workspace(session)
        assert workspace is not None
        owner = (await repository.list_owners(session, workspace.id))[0]
        known = await spaces.all_spaces(session, workspace.id)
        return await _sign_in(session, settings, owner, known[0].id)


@asynccontextmanager
async def _session(settings: Settings) -> AsyncIterator[AsyncSession]:
    database = Database(make_engine(settings.require_database_url(), pool_size=1))
    try:
        async with database.session() as session:
            yield session
    finally:
        await database.close()


async def _make(session: AsyncSession, settings: Settings, owner: User) -> Person:
    name = new_id().hex
    user = await people.create_user(session, owner.workspace_id, email=f"{name}@example.org")
    space = Space(id=new_id(), workspace_id=owner.workspace_id, name=name, slug=name)
    session.add(space)
    await session.flush()
    await spaces.add_first_role(session, space.id, owner.id, SpaceRole.ADMIN)
    await spaces.add_first_role(session, space.id, user.id, SpaceRole.WRITER)
    return await _sign_in(session, settings, user, space.id)


async def _sign_in(session: AsyncSession, settings: Settings, user: User, space_id: UUID) -> Person:
    now = datetime.now(UTC)
    row = UserSession(id=new_id(), user_id=user.id, expires_at=now + timedelta(days=SESSION_DAYS))
    session.add(row)
    await session.flush()
    token = encode_token(
        token_key(settings.require_app_secret()),
        Claims(user.id, row.id, user.workspace_id),
        issued_at=now,
        expires_at=now + timedelta(days=TOKEN_DAYS),
    )
    return Person(user.id, row.id, space_id, user.email, token)
