"""`pageturn reindex`: every page is looked at again, and what is missing is embedded."""

import asyncio
import time
from typing import Annotated
from uuid import UUID

import typer
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from ops.commands._context import command_context
from ops.commands._index import follow
from ops.errors import OpsError
from shared.accounts.models import Space
from shared.bus.jobs import PageUpdated, enqueue
from shared.search.lagging import add_missing_rows, want_again


class NoSuchSpaceError(OpsError):
    """There is no space of this name."""

    code = "no_such_space"


def reindex(
    space: Annotated[str | None, typer.Option(help="only this space, by name or slug")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="until the index has caught up")] = False,
) -> None:
    """Index all pages again. Search goes on meanwhile; unchanged passages keep their vectors."""
    asyncio.run(_run(space, wait=wait))


async def _run(space: str | None, *, wait: bool) -> None:
    async with command_context() as context:
        begun = time.monotonic()
        async with context.database.session() as session:
            space_id = None if space is None else await _space_id(session, space)
            await add_missing_rows(session)
            pages = await want_again(session, space_id=space_id)
        for page_id in pages:
            enqueue(PageUpdated(page_id=page_id))
        typer.echo(f"{len(pages)} pages to index.")
        if wait:
            await follow(context.database, space_id, begun)


async def _space_id(session: AsyncSession, name: str) -> UUID:
    matches = (Space.slug == name) | (func.lower(Space.name) == name.strip().lower())
    found = await session.scalar(select(Space.id).where(matches).order_by(Space.created_at))
    if found is None:
        raise NoSuchSpaceError
    return found
