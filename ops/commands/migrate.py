"""`pageturn migrate`: the schema and the first workspace, without starting anything else."""

import typer

from ops.commands._stores import settings_with_stores
from ops.preparing import prepare_database


def migrate() -> None:
    """Bring the database to this version's schema; make the first workspace if there is none."""
    with settings_with_stores() as settings:
        link = prepare_database(settings)
    typer.echo("The database is up to date.")
    if link is not None:
        typer.echo(f"Sign in (once) at the server's address followed by {link}")
