"""`pageturn restore FILE`: put a backup in place of what the data folder holds."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ops import dumping
from ops.archive import Unpacked, unpack
from ops.commands._stores import own_stores
from ops.errors import OpsError
from ops.home import Home, open_home, write_private
from ops.locks import home_lock
from ops.migrate import refuse_newer
from ops.secret import forget_previous
from shared.core.settings import Settings, get_settings


def restore(
    file: Annotated[Path, typer.Argument(help="a file that `pageturn backup` wrote")],
    force: Annotated[bool, typer.Option("--force", help="replace what is there")] = False,
) -> None:
    """Restore while Pageturn is stopped: all of the backup, or nothing where something fails."""
    settings = get_settings()
    home = open_home(settings.home)
    with home_lock(home), tempfile.TemporaryDirectory(dir=home.run) as folder:
        unpacked = unpack(file, Path(folder))
        refuse_newer((unpacked.manifest.revision,))
        _refuse_other_secret(settings, unpacked)
        with own_stores(settings, home) as settings:
            _replace_database(settings, home, unpacked, force=force)
        _replace_attachments(home, unpacked, Path(folder))
        _replace_secrets(home, unpacked)
    typer.echo(f"Restored the backup of {unpacked.manifest.created}.")


def _refuse_other_secret(settings: Settings, unpacked: Unpacked) -> None:
    if settings.app_secret is None:
        return
    if unpacked.secret.strip().encode() not in settings.require_app_secrets():
        raise OpsError("APP_SECRET is not the backup's: unset it, or keys could not be read")


def _replace_secrets(home: Home, unpacked: Unpacked) -> None:
    if unpacked.previous is None:
        forget_previous(home)
    else:
        write_private(home.previous_secret, unpacked.previous)
    write_private(home.secret, unpacked.secret)


def _replace_database(settings: Settings, home: Home, unpacked: Unpacked, *, force: bool) -> None:
    url = settings.require_database_url()
    if not force and not dumping.is_empty(url):
        raise OpsError("The database is not empty: restore with --force to replace what it holds")
    dumping.load(url, unpacked.dump, home.root)


def _replace_attachments(home: Home, unpacked: Unpacked, aside: Path) -> None:
    if home.attachments.exists():
        home.attachments.rename(aside / "replaced")
    if unpacked.attachments.exists():
        unpacked.attachments.rename(home.attachments)
