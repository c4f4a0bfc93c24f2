"""`pageturn up`: everything on this machine, until Ctrl-C."""

from ops.preparing import prepare_database
from ops.up import Up
from shared.core.settings import get_settings


def up() -> None:
    """Start Pageturn with whatever it needs, keep it running, stop it with Ctrl-C."""
    Up(get_settings(), prepare_database).run()
