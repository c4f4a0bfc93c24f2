"""What a workspace's administrators choose about models, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.core.secrets import SecretBox
from shared.providers import credentials, repository
from shared.providers.choosing import choose_chat, choose_embeddings
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
from shared.providers.errors import SearchDisabledError, SettingsForbiddenError
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
        (choose_chat(settings, wanted), "chat", change.chat),
        (choose_embeddings(settings, wanted), "embeddings", change.embeddings),
    )
    differs = False
    for name, value in wanted.items():
        if getattr(settings, name) != value:
            setattr(settings, name, value)
            differs = True
    for driver, purpose, given in typed:
        kept = credentials.checked(driver, purpose, given, private=private)
        differs |= await credentials.store(
            session, box, settings.workspace_id, driver, purpose, kept
        )
    if differs:
        settings.version += 1
    await session.flush()
    return await _overview(session, settings, box)


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


async def chat_connection(session: AsyncSession, ai: AiSettings, box: SecretBox) -> Connection:
    """How the workspace's chat model is reached; it may lack something."""
    row = await repository.credential(session, ai.workspace_id, ai.driver)
    return connection(ai, row, "chat", box)


async def require_search(session: AsyncSession, workspace_id: UUID) -> None:
    """Raises SearchDisabledError while search is switched off."""
    if not (await repository.get(session, workspace_id)).search_enabled:
        raise SearchDisabledError
