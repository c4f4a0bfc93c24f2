"""Spaces and who belongs to them."""

import re
import unicodedata
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import repository
from shared.accounts.actor import Actor
from shared.accounts.errors import (
    InvalidSpaceError,
    LastAdminError,
    SlugTakenError,
    SpaceNotFoundError,
    UserNotFoundError,
)
from shared.accounts.models import Space, SpaceMember, SpaceRole, User
from shared.accounts.permissions import require_space, spaces_where
from shared.core.errors import ForbiddenError
from shared.core.tunables import MAX_NAME_CHARS, MAX_SPACE_SLUG_TRIES

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class OwnSpace:
    """A space and the actor's role in it."""

    space: Space
    role: SpaceRole


@dataclass(frozen=True, slots=True)
class Membership:
    """A person's role in a space."""

    user: User
    role: SpaceRole


async def create_space(
    session: AsyncSession, actor: Actor, *, name: str, slug: str | None = None
) -> Space:
    """Make a space, with the actor as its admin. Owners and admins of the workspace may.

    Raises ForbiddenError, InvalidSpaceError, SlugTakenError.
    """
    if not actor.is_admin:
        raise ForbiddenError("Only owners and admins of the workspace make spaces.")
    name = " ".join(name.split())
    if not 2 <= len(name) <= MAX_NAME_CHARS:
        raise InvalidSpaceError
    if slug is None:
        slug = await _free_slug(session, actor.workspace_id, _slug_of(name))
    elif not 2 <= len(slug) <= MAX_NAME_CHARS or _SLUG.fullmatch(slug) is None:
        raise InvalidSpaceError
    space = Space(workspace_id=actor.workspace_id, name=name, slug=slug)
    try:
        async with session.begin_nested():
            session.add(space)
    except IntegrityError as error:
        raise SlugTakenError from error
    session.add(SpaceMember(space_id=space.id, user_id=actor.user_id, role=SpaceRole.ADMIN.value))
    await session.flush()
    return space


def _slug_of(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = "-".join(re.findall(r"[a-z0-9]+", plain))[: MAX_NAME_CHARS - 5].strip("-")
    return slug if len(slug) >= 2 else "space"


async def _free_slug(session: AsyncSession, workspace_id: UUID, slug: str) -> str:
    taken = set(
        await session.scalars(
            select(Space.slug).where(
                Space.workspace_id == workspace_id, Space.slug.startswith(slug, autoescape=True)
            )
        )
    )
    if slug not in taken:
        return slug
    for number in range(2, MAX_SPACE_SLUG_TRIES):
        if f"{slug}-{number}" not in taken:
            return f"{slug}-{number}"
    raise SlugTakenError


async def list_spaces(
    session: AsyncSession, actor: Actor, *, after: tuple[str, UUID] | None = None, limit: int
) -> list[OwnSpace]:
    """The spaces in which the actor has a role, by name; `after` is the last one's folded
    name and id."""
    folded = func.lower(Space.name)
    query = (
        select(Space, SpaceMember.role)
        .join(SpaceMember, SpaceMember.space_id == Space.id)
        .where(SpaceMember.user_id == actor.user_id, Space.id.in_(spaces_where(actor)))
        .order_by(folded, Space.id)
        .limit(limit)
    )
    if after is not None:
        name, last_id = after
        query = query.where(
            (folded > func.lower(name)) | ((folded == func.lower(name)) & (Space.id > last_id))
        )
    return [OwnSpace(space, SpaceRole(role)) for space, role in await session.execute(query)]


async def find_space(session: AsyncSession, actor: Actor, name_or_slug: str) -> Space | None:
    """One of the actor's spaces by its slug, or by its name whatever the case."""
    query = select(Space).where(
        Space.id.in_(spaces_where(actor)),
        (Space.slug == name_or_slug) | (func.lower(Space.name) == name_or_slug.strip().lower()),
    )
    return await session.scalar(
        query.order_by(Space.slug != name_or_slug, Space.created_at).limit(1)
    )


async def get_space(session: AsyncSession, actor: Actor, space_id: UUID) -> OwnSpace:
    """Raises NotFoundError without a role in it."""
    role = await require_space(session, actor, space_id, "read")
    return OwnSpace(await session.get_one(Space, space_id), role)


async def list_members(
    session: AsyncSession,
    actor: Actor,
    space_id: UUID,
    *,
    after: UUID | None = None,
    limit: int,
) -> list[Membership]:
    """Who belongs to a space, in the order in which the people were made."""
    await require_space(session, actor, space_id, "read")
    query = (
        select(User, SpaceMember.role)
        .join(SpaceMember, SpaceMember.user_id == User.id)
        .where(SpaceMember.space_id == space_id)
        .order_by(User.id)
        .limit(limit)
    )
    if after is not None:
        query = query.where(User.id > after)
    return [Membership(user, SpaceRole(role)) for user, role in await session.execute(query)]


async def find_person(session: AsyncSession, actor: Actor, email: str) -> UUID:
    """The id of an active person of the actor's workspace. Raises UserNotFoundError."""
    user = await repository.find_user(session, email.strip())
    if user is None or user.workspace_id != actor.workspace_id or user.deactivated_at is not None:
        raise UserNotFoundError
    return user.id


async def set_member(
    session: AsyncSession, actor: Actor, space_id: UUID, user_id: UUID, role: SpaceRole
) -> Membership:
    """Give a person of the workspace a role in a space, or another one.

    Raises NotFoundError, ForbiddenError, UserNotFoundError, LastAdminError.
    """
    await require_space(session, actor, space_id, "manage")
    user = await repository.find_member(session, actor.workspace_id, user_id)
    if user is None:
        raise UserNotFoundError
    await _lock(session, space_id)
    if role is not SpaceRole.ADMIN:
        await _keep_an_admin(session, space_id, user_id)
    await session.execute(
        insert(SpaceMember)
        .values(space_id=space_id, user_id=user_id, role=role.value)
        .on_conflict_do_update(
            index_elements=[SpaceMember.space_id, SpaceMember.user_id], set_={"role": role.value}
        )
    )
    return Membership(user, role)


async def remove_member(session: AsyncSession, actor: Actor, space_id: UUID, user_id: UUID) -> None:
    """Take a person's role away. Admins of the space may, and everybody for themselves.

    Raises NotFoundError, ForbiddenError, UserNotFoundError, LastAdminError.
    """
    own = user_id == actor.user_id
    await require_space(session, actor, space_id, "read" if own else "manage")
    await _lock(session, space_id)
    member = await session.get(SpaceMember, (space_id, user_id))
    if member is None:
        raise UserNotFoundError("This person does not belong to the space.")
    await _keep_an_admin(session, space_id, user_id)
    await session.delete(member)
    await session.flush()


async def _lock(session: AsyncSession, space_id: UUID) -> None:
    """Changes of one space's members follow each other, so that counts stay true."""
    locked = await session.scalar(
        select(Space.id).where(Space.id == space_id).with_for_update(key_share=True)
    )
    if locked is None:
        raise SpaceNotFoundError


async def _keep_an_admin(session: AsyncSession, space_id: UUID, without: UUID) -> None:
    """Raises LastAdminError when `without` is the only active admin."""
    admins = set(
        await session.scalars(
            select(SpaceMember.user_id)
            .join(User, User.id == SpaceMember.user_id)
            .where(
                SpaceMember.space_id == space_id,
                SpaceMember.role == SpaceRole.ADMIN.value,
                User.deactivated_at.is_(None),
            )
        )
    )
    if admins == {without}:
        raise LastAdminError


async def all_spaces(session: AsyncSession, workspace_id: UUID) -> list[Space]:
    """Every space of a workspace by name: for commands on the machine, not for requests."""
    return list(
        await session.scalars(
            select(Space).where(Space.workspace_id == workspace_id).order_by(Space.name, Space.id)
        )
    )


async def add_first_role(
    session: AsyncSession, space_id: UUID, user_id: UUID, role: SpaceRole
) -> None:
    """Give a new account a role in a space: for commands, which have no actor to check."""
    session.add(SpaceMember(space_id=space_id, user_id=user_id, role=role.value))
    await session.flush()
