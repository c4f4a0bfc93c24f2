"""From a workspace's settings to a model."""

from shared.core.settings import Settings
from shared.providers.connections import Connection
from workers.clients import CacheKey, Clients
from workers.llm.base import Model, ModelError
from workers.llm.dialects import DIALECTS
from workers.llm.offline import OfflineModel
from workers.llm.openai_chat import OpenAIChatModel


def model_for(
    connection: Connection,
    settings: Settings,
    clients: Clients | None = None,
    *,
    cache_key: CacheKey | None = None,
) -> Model:
    """A model behind a connection that is ready. Raises ModelError for a driver that this
    version does not know, or a connection that lacks something.

    `cache_key` is the workspace with its settings' version, whose client is then kept.
    """
    if not connection.ready:
        raise ModelError(
            "No model is configured: an owner can choose one in the settings.",
            code="not_configured",
        )
    if connection.driver == "offline":
        return OfflineModel(piece_seconds=settings.offline_piece_seconds)
    if connection.driver in DIALECTS:
        return OpenAIChatModel(connection, settings, clients, cache_key=cache_key)
    raise ModelError(f"This version has no driver {connection.driver!r}.")
