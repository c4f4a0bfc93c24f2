"""A chat's messages as a tree: the branch that is shown, and what stands beside it.

A message is always younger than its parent, so along a branch ids rise, and the newest
message below another one ends a branch.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from shared.chat import repository
from shared.chat.errors import MessageNotFoundError
from shared.chat.models import Chat, Message
from shared.core.tunables import MAX_BRANCH_MESSAGES


def up_from(message_id: UUID | None) -> Select[UUID]:
    """A query for the ids of a message and of all above it."""
    path = (
        select(Message.id, Message.parent_id)
        .where(Message.id == message_id)
        .cte("path", recursive=True)
    )
    # UNION, not UNION ALL: a cycle in the data ends instead of running for ever.
    path = path.union(select(Message.id, Message.parent_id).where(Message.id == path.c.parent_id))
    return select(path.c.id).limit(MAX_BRANCH_MESSAGES)


async def branch(
    session: AsyncSession,
    head_id: UUID | None,
    *,
    after: UUID | None = None,
    limit: int | None = None,
) -> list[Message]:
    """The messages from the first one down to `head_id`, in order."""
    query = select(Message).where(Message.id.in_(up_from(head_id)))
    if after is not None:
        query = query.where(Message.id > after)
    return list(await session.scalars(query.order_by(Message.id).limit(limit)))


async def outline(session: AsyncSession, head_id: UUID | None) -> list[Message]:
    """The same messages without their parts and calls, which may be megabytes."""
    without = (defer(Message.parts, raiseload=True), defer(Message.tool_calls, raiseload=True))
    query = select(Message).where(Message.id.in_(up_from(head_id))).order_by(Message.id)
    return list(await session.scalars(query.options(*without)))


async def newest_below(session: AsyncSession, message_id: UUID) -> UUID:
    """The end of the newest branch that goes through a message."""
    below = select(Message.id).where(Message.id == message_id).cte("below", recursive=True)
    below = below.union(select(Message.id).where(Message.parent_id == below.c.id))
    newest: UUID | None = await session.scalar(
        select(below.c.id).order_by(below.c.id.desc()).limit(1)
    )
    assert newest is not None
    return newest


async def show(session: AsyncSession, chat: Chat, message_id: UUID) -> None:
    """Show the newest branch through a message of the chat.

    Raises MessageNotFoundError, and TurnRunningError while an answer is being written.
    """
    found = await session.scalar(
        select(Message.id).where(Message.id == message_id, Message.chat_id == chat.id)
    )
    if found is None:
        raise MessageNotFoundError
    locked = await repository.locked(session, chat)
    await repository.refuse_while_running(session, chat)
    locked.head_id = await newest_below(session, message_id)
    await session.flush()


@dataclass(slots=True)
class Beside:
    """What stands beside a shown message: the ids of all messages with its parent, itself
    among them and in order, and what the turns on the others' branches did to pages."""

    siblings: list[UUID] = field(default_factory=list)
    hidden_changes: list[Any] = field(default_factory=list)


async def beside(
    session: AsyncSession, chat: Chat, messages: Sequence[Message]
) -> dict[UUID, Beside]:
    """For those of the shown messages that have siblings."""
    parents = {message.parent_id for message in messages}
    of_parents: ColumnElement[bool] = Message.parent_id.in_(
        [parent for parent in parents if parent is not None]
    )
    if None in parents:
        of_parents = or_(of_parents, Message.parent_id.is_(None))
    families: dict[UUID | None, list[UUID]] = {}
    rows = await session.execute(
        select(Message.id, Message.parent_id)
        .where(Message.chat_id == chat.id, of_parents)
        .order_by(Message.id)
    )
    for message_id, parent_id in rows:
        families.setdefault(parent_id, []).append(message_id)
    found = {
        message.id: Beside(families[message.parent_id])
        for message in messages
        if len(families[message.parent_id]) > 1
    }
    if found:
        await _add_hidden_changes(session, chat, found)
    return found


async def _add_hidden_changes(
    session: AsyncSession, chat: Chat, found: Mapping[UUID, Beside]
) -> None:
    rows = await session.execute(
        select(Message.id, Message.parent_id, Message.meta["changes"])
        .where(Message.chat_id == chat.id)
        .order_by(Message.id)
    )
    parents: dict[UUID, UUID | None] = {}
    changed: list[tuple[UUID, list[Any]]] = []
    for message_id, parent_id, changes in rows:
        parents[message_id] = parent_id
        if changes:
            changed.append((message_id, changes))
    shown_by_sibling = {
        sibling: beside
        for shown, beside in found.items()
        for sibling in beside.siblings
        if sibling != shown
    }
    for message_id, changes in changed:
        for above in _upward(parents, message_id):
            if above in shown_by_sibling:
                shown_by_sibling[above].hidden_changes += changes
                break


def _upward(parents: Mapping[UUID, UUID | None], message_id: UUID) -> Iterator[UUID]:
    seen: set[UUID] = set()
    at: UUID | None = message_id
    while at is not None and at not in seen:
        seen.add(at)
        yield at
        at = parents.get(at)
