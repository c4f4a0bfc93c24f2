"""The SQL of AI settings."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.providers.models import AiSettings


async def get(session: AsyncSession, workspace_id: UUID, *, lock: bool = False) -> AiSettings:
    """A workspace's settings, with their defaults when nobody has chosen yet."""
    query = select(AiSettings).where(AiSettings.workspace_id == workspace_id)
    found = await session.scalar(query.with_for_update() if lock else query)
    if found is not None:
        return found
    await session.execute(
        insert(AiSettings).values(workspace_id=workspace_id).on_conflict_do_nothing()
    )
    return (await session.scalars(query.with_for_update() if lock else query)).one()
