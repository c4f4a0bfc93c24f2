"""What every change of a page leaves behind: who, by which hand, a version, a wanted index."""

from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.wiki import repository
from shared.wiki.models import Page, PageHistory


def mark_changed(page: Page, actor: Actor) -> None:
    """The page's last change is the actor's: the person stays the person when an agent wrote."""
    page.last_updated_by_id = actor.user_id
    page.last_updated_source = actor.source
    page.last_updated_ai_chat_id = actor.chat_id
    page.updated_at = datetime.now(UTC)


async def record_version(session: AsyncSession, page: Page) -> None:
    """Store the page as a version, and want it indexed, in the page's own transaction."""
    session.add(
        PageHistory(
            workspace_id=page.workspace_id,
            page_id=page.id,
            version=page.version,
            title=page.title,
            content=page.content,
            last_updated_by_id=page.last_updated_by_id,
            last_updated_source=page.last_updated_source,
            last_updated_ai_chat_id=page.last_updated_ai_chat_id,
        )
    )
    await session.flush()
    await repository.want_indexed(session, page)
