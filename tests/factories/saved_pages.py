"""Pages for tests, through the service that makes every page."""

from uuid import UUID

from shared.core.db import Database
from shared.wiki.models import Page
from shared.wiki.service import create_page, trash_page, update_page
from tests.factories.world import World


async def make_page(
    database: Database,
    world: World,
    title: str,
    markdown: str = "",
    *,
    space: str = "WIKI",
    by: str = "owner",
) -> Page:
    """A page by the owner of the world, or whom you name."""
    async with database.session() as session:
        return await create_page(
            session,
            world.actor(by),
            space_id=world.space(space),
            title=title,
            markdown=markdown,
        )


async def save_page(
    database: Database,
    world: World,
    page_id: UUID,
    *,
    markdown: str | None = None,
    title: str | None = None,
) -> Page:
    async with database.session() as session:
        return await update_page(
            session, world.actor("owner"), page_id, markdown=markdown, title=title
        )


async def put_in_trash(database: Database, world: World, page_id: UUID) -> None:
    async with database.session() as session:
        await trash_page(session, world.actor("owner"), page_id)
