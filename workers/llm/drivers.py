"""From a workspace's settings to a model."""

from shared.core.settings import Settings
from shared.providers.connections import Connection
from workers.llm.base import Model, ModelError
from workers.llm.offline import OfflineModel


def model_for(connection: Connection, settings: Settings) -> Model:
    """A model behind a connection that is ready. Raises ModelError for a driver that this
    version does not know, or a connection that lacks something."""
    if not connection.ready:
        raise ModelError(
            "No model is configured: an owner can choose one in the settings.",
            code="not_configured",
        )
    if connection.driver == "offline":
        return OfflineModel(piece_seconds=settings.offline_piece_seconds)
    raise ModelError(f"This version has no driver {connection.driver!r}.")
