"""Turns itself into a server: takes its lock, gives up root, ties its life to the parent's.

Run as a script with the standard library alone, before the program that it becomes:

    launch.py '{"lock": path, "parent": pid, "signal": number or 0, "cwd": path,
                "uid": number or null, "gid": number or null}' program argument...

The lock file holds "pid start-time" and stays locked as long as the program or a process
that it forked lives, also when whoever started it was killed. `cwd` is entered before root
is given up, so that the program's own folder may lie within one that its user cannot enter.
"""

import ctypes
import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
BUSY = 75  # exit code: the lock is held, the program already runs


def _start_time() -> str:
    try:
        stat = Path("/proc/self/stat").read_text()
    except OSError:
        return "-"
    return stat.rpartition(")")[2].split()[19]


def _hold(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(BUSY)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()} {_start_time()}\n".encode())
    os.set_inheritable(descriptor, True)


def _become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def _die_with(parent: int, signal: int) -> None:
    # After setuid, which clears it. A parent that was gone before the call sends nothing.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal)
    if os.getppid() != parent:
        sys.exit(BUSY)


def main() -> None:
    plan: dict[str, Any] = json.loads(sys.argv[1])
    _hold(plan["lock"])
    os.umask(0o077)
    os.chdir(plan["cwd"])
    if plan["uid"] is not None:
        _become(plan["uid"], plan["gid"])
    if plan["signal"]:
        _die_with(plan["parent"], plan["signal"])
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a program and arguments, no shell


if __name__ == "__main__":
    main()
