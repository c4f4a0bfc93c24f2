"""`pageturn up`: everything on this machine, until Ctrl-C."""

from ops.preparing import prepare_alone, prepare_database
from ops.up import Up
from shared.core.settings import get_settings


def up() -> None:
    """Start Pageturn with whatever it needs, keep it running, stop it with Ctrl-C."""
    settings = get_settings()
    alone = settings.redis_url is None
    Up(settings, prepare_alone if alone else prepare_database).run()
