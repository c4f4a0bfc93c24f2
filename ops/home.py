"""The data folder: what lies where in it, and its modes."""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.errors import HomeError


@dataclass(frozen=True)
class Home:
    """Paths within one data folder. Everything secret in it has mode 0600."""

    root: Path

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def attachments(self) -> Path:
        return self.root / "attachments"

    @property
    def secret(self) -> Path:
        return self.root / "app_secret"

    @property
    def previous_secret(self) -> Path:
        """While the secret is being changed: still read with, never written with."""
        return self.root / "app_secret_previous"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def lock(self, name: str) -> Path:
        return self.run / f"{name}.lock"


def open_home(root: Path) -> Home:
    """Make the folder where it is missing. Raises HomeError when it cannot be written."""
    home = Home(root.absolute())
    try:
        # As root the servers are another user: it may pass through, and not list.
        home.root.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        for folder in (home.logs, home.run):
            folder.mkdir(mode=0o700, exist_ok=True)
        write_private(home.run / "probe", "")
        (home.run / "probe").unlink()
    except OSError as error:
        raise HomeError(
            f"The data folder {home.root} cannot be written ({error.strerror}): "
            "name another with PAGETURN_HOME"
        ) from error
    return home


def write_private(path: Path, text: str) -> None:
    """Write a whole file of mode 0600 at once: a reader sees the old or the new one."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """An empty dictionary where there is no file. Raises HomeError when it is damaged."""
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HomeError(f"{path} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise HomeError(f"{path} does not hold what Pageturn wrote")
    return value
