"""What a workspace's administrators choose about models, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.core.secrets import SecretBox
from shared.providers import credentials, repository
from shared.providers.connections import (
    NOTHING_TYPED,
    Connection,
    KeyState,
    Purpose,
    Typed,
    connection,
    describe,
    drivers,
    stored_url,
)
from shared.providers.drivers import Driver
from shared.providers.errors import (
    OnlyModelError,
    SearchDisabledError,
    SettingsForbiddenError,
    UnknownDriverError,
)
from shared.providers.models import AiSettings, ProviderCredential


@dataclass(frozen=True, slots=True)
class AiSettingsChange:
    """What to change. `values` are columns of AiSettings, only those that are given; what is
    typed belongs to the driver that is chosen with it, else to the current one."""

    values: Mapping[str, Any] = field(default_factory=dict)
    chat: Typed = NOTHING_TYPED
    embeddings: Typed = NOTHING_TYPED


@dataclass(frozen=True, slots=True)
class DriverState:
    """A driver, the base URL that was set for it (None: its own), and the state of its key."""

    driver: Driver
    base_url: str | None
    key_state: KeyState


@dataclass(frozen=True, slots=True)
class Overview:
    """The settings as administrators see them; no key is in it."""

    settings: AiSettings
    missing: tuple[str, ...]
    drivers: dict[str, DriverState]
    embedding_drivers: dict[str, DriverState]


async def get_settings(session: AsyncSession, actor: Actor, box: SecretBox) -> Overview:
    """Raises SettingsForbiddenError for members."""
    if not actor.is_admin:
        raise SettingsForbiddenError
    return await _overview(session, await repository.get(session, actor.workspace_id), box)


async def change_settings(
    session: AsyncSession,
    actor: Actor,
    change: AiSettingsChange,
    box: SecretBox,
    *,
    private: bool,
) -> Overview:
    """Change what is given; the version rises only if something differs. `private`: base
    URLs may lead to this machine or a private network.

    Raises SettingsForbiddenError, UnknownDriverError, OnlyModelError, BadBaseUrlError and
    the errors of `shared.providers.credentials`.
    """
    if not actor.is_admin:
        raise SettingsForbiddenError
    settings = await repository.get(session, actor.workspace_id, lock=True)
    wanted = dict(change.values)
    typed: tuple[tuple[Driver, Purpose, Typed], ...] = (
        (_choose_chat(settings, wanted), "chat", change.chat),
        (_choose_embeddings(settings, wanted), "embeddings", change.embeddings),
    )
    differs = False
    for name, value in wanted.items():
        if getattr(settings, name) != value:
            setattr(settings, name, value)
            differs = True
    for driver, purpose, given in typed:
        kept = credentials.checked(driver, given, private=private)
        differs |= await credentials.store(
            session, box, settings.workspace_id, driver, purpose, kept
        )
    if differs:
        settings.version += 1
    await session.flush()
    return await _overview(session, settings, box)


def _choose_chat(settings: AiSettings, wanted: dict[str, Any]) -> Driver:
    driver = find_driver("chat", wanted.get("driver", settings.driver))
    wanted["chat_model"] = model_of("chat", driver, wanted.get("chat_model"), settings.chat_model)
    small = wanted.get("small_model")
    if driver.model is not None and small not in (None, driver.model):
        raise OnlyModelError
    if driver.name != settings.driver:
        wanted.setdefault("small_model", None)  # the other driver's models are not this one's
    return driver


def _choose_embeddings(settings: AiSettings, wanted: dict[str, Any]) -> Driver:
    driver = find_driver("embeddings", wanted.get("embedding_driver", settings.embedding_driver))
    wanted["embedding_model"] = model_of(
        "embeddings", driver, wanted.get("embedding_model"), settings.embedding_model
    )
    return driver


def find_driver(purpose: Purpose, name: str) -> Driver:
    """Raises UnknownDriverError."""
    driver = drivers(purpose).get(name)
    if driver is None:
        raise UnknownDriverError
    return driver


def model_of(purpose: Purpose, driver: Driver, given: str | None, now: str) -> str:
    """The model that a driver is used with; "" when one has to be named first."""
    if driver.model is not None:
        if given not in (None, driver.model):
            raise OnlyModelError
        return driver.model
    if given is not None:
        return given
    return "" if now in {other.model for other in drivers(purpose).values()} else now


async def _overview(session: AsyncSession, settings: AiSettings, box: SecretBox) -> Overview:
    rows = await repository.credentials(session, settings.workspace_id)

    def states(purpose: Purpose) -> dict[str, DriverState]:
        return {
            name: _state(driver, rows.get(name), purpose, box)
            for name, driver in drivers(purpose).items()
        }

    chat = connection(settings, rows.get(settings.driver), "chat", box)
    return Overview(settings, chat.missing, states("chat"), states("embeddings"))


def _state(
    driver: Driver, row: ProviderCredential | None, purpose: Purpose, box: SecretBox
) -> DriverState:
    found = describe(driver, model="", row=row, purpose=purpose, box=box)
    return DriverState(driver, stored_url(row, purpose), found.key_state)


async def chat_connection(
    session: AsyncSession, ai: AiSettings, box: SecretBox, *, model: str | None = None
) -> Connection:
    """How the workspace's chat model is reached (or `model`, of the same driver); it may
    lack something."""
    row = await repository.credential(session, ai.workspace_id, ai.driver)
    return connection(ai, row, "chat", box, model=model)


async def embedding_connection(session: AsyncSession, ai: AiSettings, box: SecretBox) -> Connection:
    """How the workspace's embedding model is reached; it may lack something."""
    row = await repository.credential(session, ai.workspace_id, ai.embedding_driver)
    return connection(ai, row, "embeddings", box)


async def require_search(session: AsyncSession, workspace_id: UUID) -> None:
    """Raises SearchDisabledError while search is switched off."""
    if not (await repository.get(session, workspace_id)).search_enabled:
        raise SearchDisabledError
