"""A workspace's embedding provider, chosen as an administrator chooses it."""

from uuid import UUID

from pydantic import SecretStr

from shared.accounts.actor import Actor
from shared.core.db import Database
from shared.core.secrets import SecretBox
from shared.core.settings import get_settings
from shared.providers.connections import Typed
from shared.providers.service import AiSettingsChange, change_settings


async def choose_embeddings(
    database: Database,
    actor: Actor,
    *,
    driver: str = "openai-compatible",
    model: str = "m",
    url: str | None = None,
    key: str | None = None,
) -> UUID:
    """Save the choice; the workspace. Without a `url` or `key` what is stored stays."""
    box = SecretBox(get_settings().require_app_secret())
    typed = Typed(url, None if key is None else SecretStr(key))
    change = AiSettingsChange(
        {"embedding_driver": driver, "embedding_model": model}, embeddings=typed
    )
    async with database.session() as session:
        await change_settings(session, actor, change, box, private=True)
    return actor.workspace_id
