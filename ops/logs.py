"""Log files: bounded, one older part kept."""

import shutil
from pathlib import Path

from shared.core.tunables import LOG_FILE_BYTES


def bound(log: Path) -> None:
    """Move a log that grew too long aside and empty it; its process appends on."""
    try:
        if log.stat().st_size <= LOG_FILE_BYTES:
            return
    except FileNotFoundError:
        return
    older = log.with_name(log.name + ".1")
    shutil.copyfile(log, older)
    older.chmod(0o600)
    with log.open("r+b") as file:
        file.truncate(0)
