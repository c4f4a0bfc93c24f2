"""Child processes that hold a lock file while they live and end with the process that made them."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ops.waiting import wait_until
from shared.core.tunables import CHILD_END_SECONDS

_LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Identity:
    """A user that a child runs as; None of it means: as ourselves."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Child:
    """What to start. `death_signal` reaches it when its parent dies, however that happens;
    `tied`: also when it is started by another thread than the main one, with that thread."""

    argv: Sequence[str]
    lock: Path
    log: Path
    cwd: Path
    env: Mapping[str, str] | None = None
    identity: Identity | None = None
    death_signal: signal.Signals = signal.SIGKILL
    tied: bool = False


def start(child: Child) -> "subprocess.Popen[bytes]":
    """Start it in a session of its own, its output appended to its log."""
    # The kernel ties a death signal to the thread that forked; another thread may end early.
    tied = child.tied or threading.current_thread() is threading.main_thread()
    plan = {
        "lock": str(child.lock),
        "parent": os.getpid(),
        "signal": int(child.death_signal) if tied else 0,
        "cwd": str(child.cwd),
        "uid": child.identity.uid if child.identity else None,
        "gid": child.identity.gid if child.identity else None,
    }
    with _open_log(child.log) as log:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_LAUNCH), json.dumps(plan), *child.argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=child.env,
            start_new_session=True,
        )


def _open_log(path: Path) -> IO[bytes]:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.fdopen(descriptor, "ab", buffering=0)


def held(lock: Path) -> bool:
    """Whether the child of this lock file, or a process that it forked, lives."""
    try:
        descriptor = os.open(lock, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def end_leftover(lock: Path, gentle: signal.Signals) -> bool:
    """End a child that outlived its parent; True when there was one.

    Asks by `gentle`, then kills. Raises TimeoutError when it lives on all the same.
    """
    if not held(lock):
        return False
    for number in (gentle, signal.SIGKILL):
        _signal_holder(lock, number)
        if wait_until(lambda: not held(lock), CHILD_END_SECONDS):
            return True
    raise TimeoutError(f"the process of {lock} does not end")


def _signal_holder(lock: Path, number: signal.Signals) -> None:
    pid, _, start_time = lock.read_text().strip().partition(" ")
    if pid.isdigit() and start_time in ("-", _start_time(int(pid))):
        try:
            os.kill(int(pid), number)
        except ProcessLookupError:
            return


def _start_time(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def ask(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Send a signal to our own child, if it still runs."""
    if process.poll() is None:
        process.send_signal(number)


def await_end(
    process: "subprocess.Popen[bytes]", seconds: float, hurry: Callable[[], bool] = lambda: False
) -> None:
    """Wait until it ended; kill it when the seconds are over or somebody is in a hurry."""
    wait_until(lambda: process.poll() is not None or hurry(), seconds)
    if process.poll() is None:
        process.kill()
        process.wait(CHILD_END_SECONDS)
