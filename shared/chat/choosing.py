"""The model of a turn: chosen when it is accepted, and again if the provider changed meanwhile."""

from dataclasses import dataclass, field

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat import turns
from shared.chat.generations import Price, price_of
from shared.chat.models import Generation, Turn
from shared.providers import catalogue
from shared.providers.models import AiSettings


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model that a turn runs on, with its window in tokens and its price."""

    driver: str
    name: str
    settings_version: int
    context_window: int | None = None
    price: Price = field(default_factory=Price)


async def choose(
    session: AsyncSession, ai: AiSettings, *, kept: str | None, requested: str | None
) -> ChosenModel:
    """What is asked for, else the chat's own choice while it is still offered, else the
    workspace's. Raises UnknownModelError for a wish that is not offered."""
    name = await catalogue.resolve_model(session, ai, chosen=kept, requested=requested)
    entry = await catalogue.find(session, ai.workspace_id, ai.driver, name)
    known_window = None if entry is None else entry.context_window
    return ChosenModel(
        driver=ai.driver,
        name=name,
        settings_version=ai.version,
        context_window=ai.context_window or known_window,
        price=price_of(entry),
    )


async def follow(session: AsyncSession, turn: Turn, ai: AiSettings) -> Turn:
    """The turn, on the workspace's provider of now: one that was accepted under another
    driver would ask this one for a model that it does not have. Raises LostLeaseError."""
    if turn.driver == ai.driver:
        return turn
    model = await choose(session, ai, kept=None, requested=None)
    held = await turns.hold(session, turn.id, turn.epoch)
    held.driver, held.model, held.context_window = model.driver, model.name, model.context_window
    held.input_price, held.output_price = model.price.input, model.price.output
    await session.execute(
        update(Generation)
        .where(Generation.turn_id == turn.id, Generation.type == "chat")
        .values(driver=model.driver, model=model.name, settings_version=model.settings_version)
    )
    await session.flush()
    return held
