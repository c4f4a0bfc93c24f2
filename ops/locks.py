"""Locks of a data folder: one supervisor, or one command that needs the stores for itself."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ops.errors import AlreadyRunningError
from ops.home import Home
from ops.waiting import wait_until
from shared.core.tunables import HOME_LOCK_SECONDS

_WHO = {"supervisor": "Pageturn"}


@contextmanager
def home_lock(home: Home, name: str = "supervisor") -> Iterator[None]:
    """Hold the folder, or only what another name stands for; the system lets go of it however
    we end.

    Raises AlreadyRunningError, naming the other one's pid.
    """
    path = home.lock(name)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not wait_until(lambda: _taken(descriptor), HOME_LOCK_SECONDS):
            raise AlreadyRunningError(
                f"{_WHO.get(name, name)} already runs for {home.root} "
                f"(pid {path.read_text().strip()})"
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
