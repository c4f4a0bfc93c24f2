"""The one permission function, and the one SQL expression of what an actor may see.

Spaces decide: a person sees and changes pages only through a role in their space. A
workspace role gives no page rights by itself.
"""

from typing import Literal, get_args
from uuid import UUID

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, Uuid, literal, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.models import Space, SpaceMember, SpaceRole, User
from shared.core.errors import ForbiddenError, NotFoundError

Action = Literal["read", "write", "manage"]

_NEEDED: dict[Action, SpaceRole] = {
    "read": SpaceRole.READER,
    "write": SpaceRole.WRITER,
    "manage": SpaceRole.ADMIN,
}
assert set(_NEEDED) == set(get_args(Action))


def spaces_where(actor: Actor, action: Action = "read") -> Select[UUID]:
    """A subquery of the ids of the spaces in which the actor may do `action`.

    Empty for a deactivated person, whatever token brought the request here.
    """
    roles = [role.value for role in SpaceRole if role.rank >= _NEEDED[action].rank]
    return (
        select(SpaceMember.space_id)
        .join(Space, Space.id == SpaceMember.space_id)
        .join(User, User.id == SpaceMember.user_id)
        .where(
            SpaceMember.user_id == literal(actor.user_id, Uuid()),
            Space.workspace_id == literal(actor.workspace_id, Uuid()),
            SpaceMember.role.in_(roles),
            User.deactivated_at.is_(None),
        )
    )


def may_see(
    actor: Actor,
    *,
    workspace_id: SQLColumnExpression[UUID],
    space_id: SQLColumnExpression[UUID],
    deleted: ColumnElement[bool] | None = None,
) -> ColumnElement[bool]:
    """The SQL expression of "pages this actor may see", over a page-like row's columns."""
    alive = true() if deleted is None else ~deleted
    return (
        (workspace_id == literal(actor.workspace_id, Uuid()))
        & space_id.in_(spaces_where(actor))
        & alive
    )


async def space_role(session: AsyncSession, actor: Actor, space_id: UUID) -> SpaceRole | None:
    """The actor's role in a space of the actor's workspace; None for no role, or no such space."""
    role = await session.scalar(
        select(SpaceMember.role).where(
            SpaceMember.user_id == actor.user_id,
            SpaceMember.space_id == space_id,
            SpaceMember.space_id.in_(spaces_where(actor)),
        )
    )
    return None if role is None else SpaceRole(role)


async def require_space(
    session: AsyncSession, actor: Actor, space_id: UUID, action: Action
) -> SpaceRole:
    """Raise NotFoundError without any role in the space, ForbiddenError with too small a one."""
    role = await space_role(session, actor, space_id)
    if role is None:
        raise NotFoundError("There is no such space, or you may not see it.")
    if role.rank < _NEEDED[action].rank:
        raise ForbiddenError(f"You need to be at least {_NEEDED[action].value} of this space.")
    return role
