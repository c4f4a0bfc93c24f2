"""Many signed-in people at once, made by the project's own services in one transaction.

A person may ask 25 times a minute and an address may sign in ten times: trials need more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import people, repository, spaces
from shared.accounts.models import SpaceRole, User, UserSession
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


async def make_people(settings: Settings, count: int, space: str) -> list[Person]:
    """New members, writers in the space of this name."""

    async def make(session: AsyncSession) -> list[User]:
        workspace = await repository.first_workspace(session)
        assert workspace is not None
        return [
            await people.create_user(
                session, workspace.id, email=f"{new_id().hex}@example.org", name=f"P{number}"
            )
            for number in range(count)
        ]

    return await _signed_in(settings, space, make)


async def sign_owner_in(settings: Settings, space: str) -> Person:
    async def find(session: AsyncSession) -> list[User]:
        workspace = await repository.first_workspace(session)
        assert workspace is not None
        return (await repository.list_owners(session, workspace.id))[:1]

    return (await _signed_in(settings, space, find, member=False))[0]


async def _signed_in(settings: Settings, space: str, of, *, member: bool = True) -> list[Person]:
    database = Database(make_engine(settings.require_database_url(), pool_size=1))
    try:
        async with database.session() as session:
            users: Sequence[User] = await of(session)
            known = await spaces.all_spaces(session, users[0].workspace_id) if users else []
            space_id = next((found.id for found in known if found.name == space), UUID(int=0))
            return [
                await _sign_in(session, settings, user, space_id, member=member) for user in users
            ]
    finally:
        await database.close()


async def _sign_in(
    session: AsyncSession, settings: Settings, user: User, space_id: UUID, *, member: bool
) -> Person:
    if member:
        await spaces.add_first_role(session, space_id, user.id, SpaceRole.WRITER)
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
