"""This process's own environment, after the stores and the secret are known."""

import os

from ops.processes import variables_of
from shared.core.settings import Settings, get_settings


def export(settings: Settings) -> None:
    """Let what reads the environment here (the producer of jobs) see these settings."""
    os.environ.update(variables_of(settings))
    get_settings.cache_clear()
