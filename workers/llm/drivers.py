"""From a workspace's settings to a model."""

from shared.core.settings import Settings
from shared.providers.models import AiSettings
from workers.llm.base import Model, ModelError
from workers.llm.offline import OfflineModel


def model_for(ai: AiSettings, settings: Settings) -> Model:
    """The configured driver. Raises ModelError for one that this version does not know."""
    if ai.driver == "offline":
        return OfflineModel(piece_seconds=settings.offline_piece_seconds)
    raise ModelError(f"This version has no driver {ai.driver!r}.")
