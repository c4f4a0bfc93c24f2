"""`pageturn backup FILE`: the database, the secret and the attachments in one file."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ops import dumping
from ops.archive import FORMAT, Manifest, write_archive
from ops.commands._stores import settings_with_stores
from ops.home import Home
from shared.core.settings import Settings


def backup(file: Annotated[Path, typer.Argument(help="the file to write")]) -> None:
    """Back up to a file of mode 0600, also while Pageturn runs. The file holds the secret."""
    with settings_with_stores() as settings:
        _write(settings, Home(settings.home), file.absolute())
    typer.echo(f"Backed up to {file} ({file.stat().st_size:,} bytes). It holds the secret.")


def _write(settings: Settings, home: Home, file: Path) -> None:
    url, previous = settings.require_database_url(), settings.app_secret_previous
    with tempfile.TemporaryDirectory(dir=home.run) as folder:
        dump = Path(folder) / "database"
        manifest = Manifest(FORMAT, dumping.revision(url), datetime.now(UTC).isoformat())
        dumping.dump(url, dump, home.root)
        write_archive(
            file,
            manifest=manifest,
            secret=settings.require_app_secret().decode(),
            previous=previous.get_secret_value() if previous else None,
            dump=dump,
            attachments=home.attachments,
        )
