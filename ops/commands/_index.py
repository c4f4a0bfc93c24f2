"""Showing how the index catches up."""

import time
from uuid import UUID

import typer
from rich.progress import Progress as Bar

from ops.errors import OpsError
from ops.importing.waiting import Progress, until_indexed
from shared.core.db import Database


class IndexLagsError(OpsError):
    """The index does not catch up: is Pageturn running? `pageturn status` says."""

    code = "index_lags"


async def follow(database: Database, space_id: UUID | None, begun: float) -> None:
    """Wait until the index holds every live page (of a space), and print what it holds.

    `begun` is on the monotonic clock. Raises IndexLagsError when nothing happens any more.
    """
    with Bar(transient=True) as bar:
        task = bar.add_task("Indexing", total=None)

        def show(progress: Progress) -> None:
            done = progress.indexed + progress.failed
            bar.update(task, total=progress.pages, completed=done)

        end = await until_indexed(database, space_id, show)
    if not end.is_done:
        raise IndexLagsError
    seconds = time.monotonic() - begun
    typer.echo(f"{end.indexed} pages indexed, {end.chunks} chunks, {seconds:.1f} s.")
    if end.failed:
        typer.echo(f"pageturn: {end.failed} pages could not be indexed.", err=True)
        raise typer.Exit(1)
