"""`pageturn process NAME`: become one process, where something else supervises."""

import os
from typing import Annotated

import typer

from ops.home import open_home
from ops.processes import PROCESSES, ROOT, environment_of, process_named
from shared.core.settings import get_settings


def process(
    name: Annotated[str, typer.Argument(help=", ".join(process.name for process in PROCESSES))],
) -> None:
    """Run one process in the foreground; DATABASE_URL, REDIS_URL and APP_SECRET must be set."""
    settings = get_settings()
    chosen = process_named(name)
    settings.require_database_url()
    settings.require_redis_url()
    settings.require_app_secret()
    open_home(settings.home)
    argv = chosen.argv(settings)
    environment = environment_of(chosen, settings, os.environ)
    os.chdir(ROOT)
    os.execve(argv[0], argv, environment)  # noqa: S606 - from our own table, no shell
