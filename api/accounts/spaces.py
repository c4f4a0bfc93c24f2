"""Spaces and their members."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.accounts.schemas import (
    MemberList,
    MemberOut,
    MemberPut,
    SpaceCreate,
    SpaceList,
    SpaceOut,
)
from api.deps import CurrentActor, SessionDep
from api.paging import Cursor, Limit, decode_cursor, encode_cursor
from shared.accounts import spaces
from shared.accounts.models import SpaceRole
from shared.accounts.spaces import OwnSpace
from shared.core.tunables import PAGE_LIMIT_DEFAULT

router = APIRouter(prefix="/spaces", tags=["spaces"])


@router.get("")
async def list_spaces(
    actor: CurrentActor,
    session: SessionDep,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> SpaceList:
    """The spaces in which you have a role, by name."""
    after = None if cursor is None else decode_cursor(cursor, str, UUID)
    rows = await spaces.list_spaces(session, actor, after=after, limit=limit + 1)
    last = rows[limit - 1].space if len(rows) > limit else None
    return SpaceList(
        items=[SpaceOut.of(row) for row in rows[:limit]],
        next_cursor=None if last is None else encode_cursor(last.name, last.id),
    )


@router.post("", status_code=201)
async def create_space(body: SpaceCreate, actor: CurrentActor, session: SessionDep) -> SpaceOut:
    """Make a space and become its admin. Owners and admins of the workspace may."""
    space = await spaces.create_space(session, actor, name=body.name, slug=body.slug)
    return SpaceOut.of(OwnSpace(space, SpaceRole.ADMIN))


@router.get("/{space_id}")
async def get_space(space_id: UUID, actor: CurrentActor, session: SessionDep) -> SpaceOut:
    """One space."""
    return SpaceOut.of(await spaces.get_space(session, actor, space_id))


@router.get("/{space_id}/members")
async def list_members(
    space_id: UUID,
    actor: CurrentActor,
    session: SessionDep,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> MemberList:
    """Who belongs to the space."""
    after = None if cursor is None else decode_cursor(cursor, UUID)[0]
    rows = await spaces.list_members(session, actor, space_id, after=after, limit=limit + 1)
    return MemberList(
        items=[MemberOut.of(row) for row in rows[:limit]],
        next_cursor=encode_cursor(rows[limit - 1].user.id) if len(rows) > limit else None,
    )


@router.put("/{space_id}/members")
async def set_member(
    space_id: UUID, body: MemberPut, actor: CurrentActor, session: SessionDep
) -> MemberOut:
    """Give a person a role in the space, or another one. Admins of the space may."""
    user_id = body.user_id
    if user_id is None:
        assert body.email is not None
        user_id = await spaces.find_person(session, actor, body.email)
    return MemberOut.of(await spaces.set_member(session, actor, space_id, user_id, body.role))


@router.delete("/{space_id}/members", status_code=204)
async def remove_member(
    space_id: UUID,
    user_id: Annotated[UUID, Query(alias="userId")],
    actor: CurrentActor,
    session: SessionDep,
) -> None:
    """Take a person's role in the space away; your own you may always give up."""
    await spaces.remove_member(session, actor, space_id, user_id)


@router.delete("/{space_id}/members/{user_id}", status_code=204)
async def remove_named_member(
    space_id: UUID, user_id: UUID, actor: CurrentActor, session: SessionDep
) -> None:
    """The same, with the person in the path."""
    await spaces.remove_member(session, actor, space_id, user_id)
