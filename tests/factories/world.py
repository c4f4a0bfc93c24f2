"""The people and spaces that checks speak of.

`owner`, `admin`, `writer` (writer in WIKI, reader in READ, nothing in PRIV), `reader`
(reader in WIKI), `outsider` (no space), `other` (owner of a second workspace, admin of its
space OTHER). The owner is admin of WIKI, READ and PRIV; `admin` has a workspace role only.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from uuid import UUID

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from shared.accounts.actor import Actor
from shared.accounts.models import (
    Role,
    Space,
    SpaceMember,
    SpaceRole,
    User,
    UserSession,
    Workspace,
)
from shared.accounts.tokens import Claims, encode_token, token_key
from shared.core.db import Database
from shared.core.ids import new_id
from shared.core.settings import get_settings
from shared.providers.models import AiSettings

PASSWORD = "correct horse battery"

_PEOPLE = {
    "owner": Role.OWNER,
    "admin": Role.ADMIN,
    "writer": Role.MEMBER,
    "reader": Role.MEMBER,
    "outsider": Role.MEMBER,
}
_MEMBERS = {
    "WIKI": {"owner": "admin", "writer": "writer", "reader": "reader"},
    "READ": {"owner": "admin", "writer": "reader"},
    "PRIV": {"owner": "admin"},
}


@dataclass(frozen=True)
class World:
    """Made by `make_world`; names as above."""

    workspace_id: UUID
    other_workspace_id: UUID
    users: dict[str, UUID]
    sessions: dict[str, UUID]
    actors: dict[str, Actor]
    tokens: dict[str, str]
    spaces: dict[str, UUID]

    def actor(self, name: str) -> Actor:
        return self.actors[name]

    def headers(self, name: str) -> dict[str, str]:
        """The request headers of a signed-in person."""
        return {"authorization": f"Bearer {self.tokens[name]}"}

    def space(self, name: str) -> UUID:
        return self.spaces[name]

    def email(self, name: str) -> str:
        return f"{name}@example.org"


@lru_cache(maxsize=1)
def password_hash() -> str:
    return PasswordHash((Argon2Hasher(time_cost=1, memory_cost=1024),)).hash(PASSWORD)


async def make_world(database: Database) -> World:
    """Two workspaces with their people, sessions, spaces and settings."""
    workspaces = {"Acme": new_id(), "Other": new_id()}
    users = {name: new_id() for name in (*_PEOPLE, "other")}
    sessions = {name: new_id() for name in users}
    spaces = {name: new_id() for name in (*_MEMBERS, "OTHER")}
    roles = {**_PEOPLE, "other": Role.OWNER}
    homes = {name: workspaces["Other" if name == "other" else "Acme"] for name in users}
    now = datetime.now(UTC)
    expires = now + timedelta(days=1)
    async with database.session() as session:
        for name, id_ in workspaces.items():
            session.add(Workspace(id=id_, name=name))
        await session.flush()
        session.add_all(AiSettings(workspace_id=id_) for id_ in workspaces.values())
        for name, id_ in users.items():
            session.add(_user(id_, homes[name], name, roles[name]))
        for name, id_ in spaces.items():
            home = workspaces["Other" if name == "OTHER" else "Acme"]
            session.add(Space(id=id_, workspace_id=home, name=name.title(), slug=name.lower()))
        await session.flush()
        for name, id_ in sessions.items():
            session.add(UserSession(id=id_, user_id=users[name], expires_at=expires))
        for space, members in {**_MEMBERS, "OTHER": {"other": "admin"}}.items():
            for name, role in members.items():
                session.add(
                    SpaceMember(
                        space_id=spaces[space], user_id=users[name], role=SpaceRole(role).value
                    )
                )
    key = token_key(get_settings().require_app_secret())
    tokens = {
        name: encode_token(
            key,
            Claims(users[name], sessions[name], homes[name]),
            issued_at=now,
            expires_at=expires,
        )
        for name in users
    }
    actors = {
        name: Actor(homes[name], users[name], Role(roles[name]), session_id=sessions[name])
        for name in users
    }
    return World(
        workspace_id=workspaces["Acme"],
        other_workspace_id=workspaces["Other"],
        users=users,
        sessions=sessions,
        actors=actors,
        tokens=tokens,
        spaces=spaces,
    )


def _user(id_: UUID, workspace_id: UUID, name: str, role: Role) -> User:
    return User(
        id=id_,
        workspace_id=workspace_id,
        email=f"{name}@example.org",
        name=name.title(),
        password_hash=password_hash(),
        role=role.value,
    )
