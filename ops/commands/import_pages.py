"""`pageturn import DIR --space NAME`: a folder of Markdown files becomes pages."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress as Bar
from sqlalchemy.ext.asyncio import AsyncSession

from ops.commands._context import command_context
from ops.commands._index import follow
from ops.errors import OpsError
from ops.importing.importer import Importer, Report, is_empty
from ops.importing.source import Source, read_folder
from shared.accounts.actor import Actor
from shared.accounts.models import Role, Space
from shared.accounts.repository import find_user, first_workspace, list_owners
from shared.accounts.spaces import create_space, find_space


class ImportRefusedError(OpsError):
    """The folder cannot be imported."""

    code = "import"


def import_pages(
    folder: Annotated[Path, typer.Argument(help="a folder of Markdown files", metavar="DIR")],
    space: Annotated[str, typer.Option(help="the space's name; made if there is none")],
    as_: Annotated[
        str | None, typer.Option("--as", help="whose pages they are, by email; else the owner's")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="into a space that has pages: the same are updated")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="until the index has caught up")] = False,
) -> None:
    """Import a folder: a page a file, the tree from the folders.

    Exit code 1 when a file could not be taken; the others are there.
    """
    if not folder.is_dir():
        raise ImportRefusedError(f"{folder} is not a folder.")
    source = read_folder(folder)
    report = asyncio.run(_run(source, space=space, email=as_, update=update, wait=wait))
    for problem in report.problems:
        typer.echo(f"pageturn: {problem.path}: {problem.reason}", err=True)
    if report.problems:
        raise typer.Exit(1)


async def _run(
    source: Source, *, space: str, email: str | None, update: bool, wait: bool
) -> Report:
    async with command_context() as context:
        begun = time.monotonic()
        async with context.database.session() as session:
            actor = await _actor(session, email)
            target = await _space(session, actor, space, update=update)
        with _bar(2 * len(source.pages)) as advance:
            report = await Importer(context.database, actor, target, advance).run(source)
        _summary(report, target, time.monotonic() - begun)
        if wait:
            await follow(context.database, target.id, begun)
        return report


async def _actor(session: AsyncSession, email: str | None) -> Actor:
    """The person of that email, else the workspace's first owner. Raises ImportRefusedError."""
    if email is None:
        workspace = await first_workspace(session)
        owners = [] if workspace is None else await list_owners(session, workspace.id)
        user = next(iter(owners), None)
    else:
        user = await find_user(session, email)
    if user is None or user.deactivated_at is not None:
        who = "nobody who owns the workspace yet" if email is None else f"nobody called {email}"
        raise ImportRefusedError(f"There is {who}.")
    return Actor(user.workspace_id, user.id, Role(user.role))


async def _space(session: AsyncSession, actor: Actor, name: str, *, update: bool) -> Space:
    found = await find_space(session, actor, name)
    if found is None:
        return await create_space(session, actor, name=name)
    if not update and not await is_empty(session, found.id):
        raise ImportRefusedError(
            f"The space {found.name} has pages already. With --update, a page of the same title "
            "under the same parent is written over, and nothing is removed."
        )
    return found


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    with Bar(transient=True) as bar:
        task = bar.add_task("Importing", total=total)
        yield lambda: bar.advance(task)


def _summary(report: Report, space: Space, seconds: float) -> None:
    folders = f" and {report.folders} pages for folders" if report.folders else ""
    typer.echo(
        f"{report.files} pages from files{folders} in {space.name} "
        f"({report.created} new), {seconds:.1f} s."
    )
