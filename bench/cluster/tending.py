"""A thread that keeps the processes running as `pageturn up` does, but for those held down."""

import os
import signal
import subprocess
import threading
import time

from ops import children
from ops.supervisor import Member, Supervisor

TEND_SECONDS = 0.05  # between two looks at the processes
END_SECONDS = 10.0  # for a killed process to be gone


class Tending:
    """All processes are forked on this one thread: the kernel ends them with it."""

    def __init__(self) -> None:
        self._supervisor = Supervisor([], report=self._say, changed=lambda: None)
        self._members: dict[str, Member] = {}
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tending", daemon=True)
        self.said: list[tuple[float, str]] = []  # (time.monotonic(), what happened)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End all processes at once; what they held is thrown away with the folder."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        for member in self._members.values():
            if member.process is not None:
                _kill(member.process)

    def names(self) -> list[str]:
        return list(self._members)

    def pid(self, name: str) -> int | None:
        """None while it is down."""
        process = self._members[name].process
        return process.pid if process is not None and process.poll() is None else None

    def add(self, member: Member) -> None:
        """It is started at the next look."""
        with self._lock:
            self._members[member.name] = member
            self._supervisor.members.append(member)

    def remove(self, name: str) -> None:
        """Kill it and forget it."""
        self.kill(name, hold=True)
        with self._lock:
            del self._members[name]

    def hold(self, name: str) -> None:
        """From now on it is not started again when it dies."""
        with self._lock:
            if (member := self._members[name]) in self._supervisor.members:
                self._supervisor.members.remove(member)

    def let_go(self, name: str) -> None:
        """Keep it running again; it is started at once if it is down."""
        with self._lock:
            member = self._members[name]
            if member in self._supervisor.members:
                return
            if member.process is not None and member.process.poll() is not None:
                member.process, member.due = None, 0.0
            self._supervisor.members.append(member)

    def kill(self, name: str, *, hold: bool = False) -> float:
        """SIGKILL; the moment by time.monotonic(). Returns when the process is gone."""
        with self._lock:
            process = self._members[name].process
            if hold:
                self.hold(name)
        moment = time.monotonic()
        if process is not None:
            _kill(process)
        return moment

    def signal(self, name: str, number: signal.Signals) -> float:
        """Send a signal; the moment by time.monotonic()."""
        pid = self.pid(name)
        assert pid is not None, f"{name} is down"
        os.kill(pid, number)
        return time.monotonic()

    def _run(self) -> None:
        while not self._over.wait(TEND_SECONDS):
            with self._lock:
                self._supervisor.tend()

    def _say(self, line: str) -> None:
        self.said.append((time.monotonic(), line))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    children.ask(process, signal.SIGKILL)
    process.wait(END_SECONDS)
