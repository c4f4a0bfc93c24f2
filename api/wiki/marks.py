"""Whose change it was, by which hand, as one reader may know it."""

from collections.abc import Iterable, Set
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from api.schemas import ApiModel
from shared.accounts.actor import Actor
from shared.chat import repository as chats
from shared.wiki.models import Page, PageHistory


class Author(ApiModel):
    """A person. What the agent writes, it writes as the person who asked."""

    id: UUID
    name: str

    @classmethod
    def of(cls, row: Page | PageHistory, name: str | None) -> "Author | None":
        """Who changed it; None when that person is gone."""
        if row.last_updated_by_id is None or name is None:
            return None
        return cls(id=row.last_updated_by_id, name=name)


class AiChat(ApiModel):
    """The chat in which the agent was asked. Its creator has its id while it exists."""

    id: UUID | None
    mine: bool

    @classmethod
    def of(cls, row: Page | PageHistory, own: Set[UUID]) -> "AiChat | None":
        """None for a change by a person's own hand. `own` are the reader's chats."""
        if row.last_updated_source != "agent":
            return None
        mine = row.last_updated_ai_chat_id in own
        return cls(id=row.last_updated_ai_chat_id if mine else None, mine=mine)


async def own_chats(
    session: AsyncSession, actor: Actor, rows: Iterable[Page | PageHistory]
) -> set[UUID]:
    """Which of the chats that these changes came from are the reader's own; one query."""
    ids = {chat_id for row in rows if (chat_id := row.last_updated_ai_chat_id) is not None}
    return await chats.own_ids(session, actor, ids)
