"""A page's saved versions. Whoever may read the page may read them."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.wiki import repository
from shared.wiki.errors import PageNotFoundError, VersionNotFoundError
from shared.wiki.models import PageHistory


@dataclass(frozen=True, slots=True)
class Version:
    """A saved version and the name of who saved it; None when that person is gone."""

    row: PageHistory
    author: str | None


async def history(
    session: AsyncSession,
    actor: Actor,
    page_id: UUID | str,
    *,
    before: int | None = None,
    limit: int,
) -> list[Version]:
    """A page's versions without their content, newest first. Raises PageNotFoundError."""
    found = await _readable(session, actor, page_id)
    rows = await repository.versions(session, found, before=before, limit=limit)
    return [Version(row, author) for row, author in rows]


async def get_version(
    session: AsyncSession, actor: Actor, page_id: UUID | str, version: int
) -> Version:
    """One version with its content. Raises PageNotFoundError, VersionNotFoundError."""
    found = await _readable(session, actor, page_id)
    row = await repository.find_version(session, found, version)
    if row is None:
        raise VersionNotFoundError
    return Version(*row)


async def _readable(session: AsyncSession, actor: Actor, page_id: UUID | str) -> UUID:
    found = await repository.find_page_id(session, actor, page_id)
    if found is None:
        raise PageNotFoundError
    return found
