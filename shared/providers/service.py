"""What a workspace's administrators choose about models."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.providers import repository
from shared.providers.errors import (
    SettingsForbiddenError,
    UnknownDriverError,
    UnknownModelError,
)
from shared.providers.models import AiSettings

CHAT_MODELS = {"offline": frozenset({"offline"})}
EMBEDDING_MODELS = {"local": frozenset({"all-MiniLM-L6-v2"})}


@dataclass(frozen=True, slots=True)
class AiSettingsChange:
    """What to change; None leaves a setting as it is."""

    driver: str | None = None
    chat_model: str | None = None
    embedding_driver: str | None = None
    embedding_model: str | None = None
    system_prompt: str | None = None
    chat_enabled: bool | None = None
    search_enabled: bool | None = None


async def get_settings(session: AsyncSession, actor: Actor) -> AiSettings:
    """Raises SettingsForbiddenError for members."""
    if not actor.is_admin:
        raise SettingsForbiddenError
    return await repository.get(session, actor.workspace_id)


async def change_settings(
    session: AsyncSession, actor: Actor, change: AiSettingsChange
) -> AiSettings:
    """Change what is given; the version rises only if something differs.

    Raises SettingsForbiddenError, UnknownDriverError, UnknownModelError.
    """
    if not actor.is_admin:
        raise SettingsForbiddenError
    settings = await repository.get(session, actor.workspace_id, lock=True)
    wanted = {
        name: value
        for name in AiSettingsChange.__slots__
        if (value := getattr(change, name)) is not None
    }
    _check(
        CHAT_MODELS,
        wanted.get("driver", settings.driver),
        wanted.get("chat_model", settings.chat_model),
    )
    _check(
        EMBEDDING_MODELS,
        wanted.get("embedding_driver", settings.embedding_driver),
        wanted.get("embedding_model", settings.embedding_model),
    )
    changed = {name: value for name, value in wanted.items() if getattr(settings, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(settings, name, value)
        settings.version += 1
        await session.flush()
    return settings


def _check(models: dict[str, frozenset[str]], driver: str, model: str) -> None:
    if driver not in models:
        raise UnknownDriverError
    if model not in models[driver]:
        raise UnknownModelError
