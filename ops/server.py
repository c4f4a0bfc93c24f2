"""What the two embedded stores have in common: remembered facts, start, readiness, leftovers."""

import json
import os
import secrets
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from ops import children, ports
from ops.children import Child, Identity
from ops.errors import StoreError
from ops.home import Home, read_json, write_private
from ops.programs import identity_for
from ops.waiting import wait_until
from shared.core.tunables import STORE_START_ATTEMPTS, STORE_START_SECONDS, STORE_STOP_SECONDS


def seen_from(cwd: Path) -> str:
    """A program's own working folder as it should name it.

    On Linux the name holds also where folders above are closed to the user that it runs as:
    the folder is entered before root is given up.
    """
    return "/proc/self/cwd" if sys.platform == "linux" else str(cwd)


class Server(ABC):
    """One store of a data folder. `durable=False` is for tests: a power cut loses data."""

    name: ClassVar[str]
    setting: ClassVar[str]  # which URL of the settings it is
    gentle: ClassVar[signal.Signals]  # asks for a clean and quick end

    def __init__(self, home: Home, *, durable: bool = True) -> None:
        self.home = home
        self.durable = durable
        self.folder = home.root / self.name
        self.identity: Identity | None = identity_for(self.folder)
        self._facts_file = home.root / f"{self.name}.json"
        self.facts: dict[str, Any] = read_json(self._facts_file)

    @property
    def port(self) -> int:
        return int(self.facts["port"])

    @property
    def password(self) -> str:
        return str(self.facts["password"])

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients connect, password included."""

    @abstractmethod
    def prepare(self) -> None:
        """Make what must be on disk before the program starts."""

    @abstractmethod
    def child(self) -> Child:
        """The program, as it is started."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether a client with the password is served now."""

    @abstractmethod
    def settle(self) -> None:
        """What must be done once it answers, idempotently."""

    def remember(self, **facts: Any) -> None:
        self.facts.update(facts)
        write_private(self._facts_file, json.dumps(self.facts))

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the program; it may not answer yet."""
        return children.start(self.child())

    def bring_up(self) -> "subprocess.Popen[bytes]":
        """End a leftover, start, wait until it answers. Raises StoreError."""
        children.end_leftover(self.home.lock(self.name), self.gentle)
        self._make_folder()
        missing = {"password", "admin_password"} - self.facts.keys()
        if missing:
            self.remember(**{name: secrets.token_urlsafe(32) for name in missing})
        for _ in range(STORE_START_ATTEMPTS):
            if "port" not in self.facts or not ports.is_free(self.port):
                self.remember(port=ports.pick())
            self.prepare()
            process = self.start()
            if self._came_up(process):
                self.settle()
                return process
            self.halt(process)
        raise StoreError(f"{self.name} did not start: see {self.home.log(self.name)}")

    def _came_up(self, process: "subprocess.Popen[bytes]") -> bool:
        def decided() -> bool:
            return process.poll() is not None or self.answers()

        return wait_until(decided, STORE_START_SECONDS) and process.poll() is None

    def halt(self, process: "subprocess.Popen[bytes]") -> None:
        """End it, cleanly where it still obeys."""
        children.ask(process, self.gentle)
        children.await_end(process, STORE_STOP_SECONDS)

    def _make_folder(self) -> None:
        if not self.folder.exists():
            self.folder.mkdir(mode=0o700)
            self.own(self.folder)

    def own(self, path: Path) -> None:
        """Give a path to the user that the server runs as."""
        if self.identity is not None:
            os.chown(path, self.identity.uid, self.identity.gid)
