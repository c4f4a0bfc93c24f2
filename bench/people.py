"""Many signed-in people at once: by rows, for signing in is throttled."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from shared.accounts.models import Role, Space, SpaceMember, SpaceRole, User, UserSession
from shared.accounts.tokens import Claims, encode_token, token_key
from shared.core.db import Database, make_engine
from shared.core.ids import new_id
from shared.core.settings import Settings


@dataclass(frozen=True)
class Member:
    """A member with a session; writer in every space of the workspace."""

    user_id: UUID
    session_id: UUID
    token: str


def add_members(database_url: str, app_secret: str, count: int) -> list[Member]:
    """Add so many people to the first workspace, in one transaction."""
    return asyncio.run(_add(database_url, app_secret, count))


async def _add(database_url: str, app_secret: str, count: int) -> list[Member]:
    url = Settings.model_validate({"DATABASE_URL": database_url}).require_database_url()
    database = Database(make_engine(url, pool_size=1))
    now, key = datetime.now(UTC), token_key(app_secret.encode())
    expires = now + timedelta(days=1)
    members = []
    async with database.session() as session:
        spaces = list(await session.scalars(select(Space)))
        workspace_id = spaces[0].workspace_id
        people = [_person(workspace_id) for _ in range(count)]
        session.add_all(people)
        await session.flush()
        for person in people:
            live = UserSession(id=new_id(), user_id=person.id, expires_at=expires)
            session.add(live)
            for space in spaces:
                writer = SpaceRole.WRITER.value
                session.add(SpaceMember(space_id=space.id, user_id=person.id, role=writer))
            claims = Claims(person.id, live.id, workspace_id)
            token = encode_token(key, claims, issued_at=now, expires_at=expires)
            members.append(Member(person.id, live.id, token))
    await database.close()
    return members


def _person(workspace_id: UUID) -> User:
    id_ = new_id()
    return User(
        id=id_,
        workspace_id=workspace_id,
        email=f"{id_.hex}@example.org",
        name=f"Person {id_.hex[-6:]}",
        role=Role.MEMBER.value,
    )
