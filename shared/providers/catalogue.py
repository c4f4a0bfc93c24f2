"""The models that a workspace knows: their prices, their windows, and who may choose them.

Prices are US dollars per million tokens. The first content is put in once; what an admin
makes of it stays, also when it is emptied.
"""

from dataclasses import asdict, dataclass
from decimal import Decimal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.providers import repository
from shared.providers.drivers import CHAT_DRIVERS
from shared.providers.errors import (
    NotInCatalogueError,
    SettingsForbiddenError,
    UnknownDriverError,
    UnknownModelError,
)
from shared.providers.models import AiSettings, CatalogueModel


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as an admin describes it; None: not known."""

    driver: str
    model: str
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    context_window: int | None = None
    allowed: bool = True


def _openai(model: str, price: str, window: int) -> Entry:
    return Entry("openai", model, Decimal(price), Decimal(price), window)


def _claude(model: str) -> Entry:
    return Entry("anthropic", model, context_window=200_000)


FIRST_CONTENT = (
    _openai("gpt-4o", "0.25", 128_000),
    _openai("gpt-4o-mini", "0.015", 128_000),
    _openai("o1", "1.50", 200_000),
    _openai("o1-mini", "0.30", 128_000),
    _openai("o1-pro", "15.00", 200_000),
    _openai("o3-mini", "1.10", 200_000),
    _claude("claude-opus-4-1"),
    _claude("claude-sonnet-4-5"),
    _claude("claude-haiku-4-5"),
)


async def list_models(session: AsyncSession, actor: Actor) -> list[CatalogueModel]:
    """The whole catalogue. Raises SettingsForbiddenError for members."""
    ai = await _of_admin(session, actor, lock=False)
    await _seed(session, ai)
    return await repository.list_models(session, ai.workspace_id)


async def put_model(session: AsyncSession, actor: Actor, entry: Entry) -> CatalogueModel:
    """Add a model, or describe it anew. Raises SettingsForbiddenError, UnknownDriverError."""
    ai = await _of_admin(session, actor)
    if entry.driver not in CHAT_DRIVERS:
        raise UnknownDriverError
    await _seed(session, ai)
    row = await repository.find_model(session, ai.workspace_id, entry.driver, entry.model)
    before = None if row is None else (row.allowed, row.context_window)
    if row is None:
        row = CatalogueModel(workspace_id=ai.workspace_id, **asdict(entry))
        session.add(row)
    else:
        for name, value in asdict(entry).items():
            setattr(row, name, value)
    # What people may choose now and how much fits is part of the settings; a price is not.
    if entry.driver == ai.driver and before != (row.allowed, row.context_window):
        ai.version += 1
    await session.flush()
    return row


async def delete_model(session: AsyncSession, actor: Actor, driver: str, model: str) -> None:
    """Raises SettingsForbiddenError, NotInCatalogueError."""
    ai = await _of_admin(session, actor)
    await _seed(session, ai)
    row = await repository.find_model(session, ai.workspace_id, driver, model)
    if row is None:
        raise NotInCatalogueError
    await repository.delete_model(session, row)
    if driver == ai.driver:
        ai.version += 1
    await session.flush()


async def allowed_models(session: AsyncSession, ai: AiSettings) -> list[str]:
    """What people may choose: the workspace's model first, then the current driver's others."""
    await _seed(session, ai)
    names = await repository.allowed_names(session, ai.workspace_id, ai.driver)
    default = [ai.chat_model] if ai.chat_model else []
    return default + [name for name in names if name != ai.chat_model]


async def resolve_model(
    session: AsyncSession, ai: AiSettings, *, chosen: str | None, requested: str | None
) -> str:
    """The model that is asked for now, else the one chosen before while it is still offered,
    else the workspace's. Raises UnknownModelError for a request that is not offered."""
    if requested in (None, ai.chat_model) and chosen in (None, ai.chat_model):
        return ai.chat_model
    offered = await allowed_models(session, ai)
    if requested is not None:
        if requested not in offered:
            raise UnknownModelError
        return requested
    return chosen if chosen is not None and chosen in offered else ai.chat_model


async def find(
    session: AsyncSession, workspace_id: UUID, driver: str, model: str
) -> CatalogueModel | None:
    """What the catalogue says of a model; None: nothing."""
    ai = await session.get(AiSettings, workspace_id)
    if ai is None:
        return None
    await _seed(session, ai)
    return await repository.find_model(session, workspace_id, driver, model)


async def _of_admin(session: AsyncSession, actor: Actor, *, lock: bool = True) -> AiSettings:
    if not actor.is_admin:
        raise SettingsForbiddenError
    return await repository.get(session, actor.workspace_id, lock=lock)


async def _seed(session: AsyncSession, ai: AiSettings) -> None:
    if not ai.catalogue_seeded:
        await repository.seed(session, ai.workspace_id, [asdict(e) for e in FIRST_CONTENT])
