"""The SQL of AI settings, credentials and the catalogue."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.ids import new_id
from shared.providers.models import AiSettings, CatalogueModel, ProviderCredential


async def get(session: AsyncSession, workspace_id: UUID, *, lock: bool = False) -> AiSettings:
    """A workspace's settings, with their defaults when nobody has chosen yet."""
    query = select(AiSettings).where(AiSettings.workspace_id == workspace_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    found = await session.scalar(query)
    if found is not None:
        return found
    await session.execute(
        insert(AiSettings).values(workspace_id=workspace_id).on_conflict_do_nothing()
    )
    return (await session.scalars(query)).one()


async def credential(
    session: AsyncSession, workspace_id: UUID, driver: str
) -> ProviderCredential | None:
    return await session.scalar(
        select(ProviderCredential).where(
            ProviderCredential.workspace_id == workspace_id, ProviderCredential.driver == driver
        )
    )


async def credentials(session: AsyncSession, workspace_id: UUID) -> dict[str, ProviderCredential]:
    """What is stored of each driver, by its name."""
    rows = await session.scalars(
        select(ProviderCredential).where(ProviderCredential.workspace_id == workspace_id)
    )
    return {row.driver: row for row in rows}


async def seed(
    session: AsyncSession, workspace_id: UUID, entries: Sequence[dict[str, object]]
) -> None:
    """Put the first content into a catalogue that never had one."""
    first = await session.scalar(
        update(AiSettings)
        .where(AiSettings.workspace_id == workspace_id, AiSettings.catalogue_seeded.is_(False))
        .values(catalogue_seeded=True)
        .returning(AiSettings.workspace_id)
    )
    if first is not None:
        rows = [{"id": new_id(), "workspace_id": workspace_id} | entry for entry in entries]
        await session.execute(insert(CatalogueModel).values(rows).on_conflict_do_nothing())


async def list_models(session: AsyncSession, workspace_id: UUID) -> list[CatalogueModel]:
    return list(
        await session.scalars(
            select(CatalogueModel)
            .where(CatalogueModel.workspace_id == workspace_id)
            .order_by(CatalogueModel.driver, CatalogueModel.model)
        )
    )


async def allowed_names(session: AsyncSession, workspace_id: UUID, driver: str) -> list[str]:
    return list(
        await session.scalars(
            select(CatalogueModel.model)
            .where(
                CatalogueModel.workspace_id == workspace_id,
                CatalogueModel.driver == driver,
                CatalogueModel.allowed,
            )
            .order_by(CatalogueModel.model)
        )
    )


async def find_model(
    session: AsyncSession, workspace_id: UUID, driver: str, model: str
) -> CatalogueModel | None:
    return await session.scalar(
        select(CatalogueModel).where(
            CatalogueModel.workspace_id == workspace_id,
            CatalogueModel.driver == driver,
            CatalogueModel.model == model,
        )
    )


async def delete_model(session: AsyncSession, entry: CatalogueModel) -> None:
    await session.execute(delete(CatalogueModel).where(CatalogueModel.id == entry.id))
