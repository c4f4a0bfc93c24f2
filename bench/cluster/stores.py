"""One embedded store that can be stopped, killed and frozen, and starts again as it was."""

import contextlib
import os
import signal
import subprocess

from ops import children
from ops.server import Server
from ops.waiting import wait_until
from shared.core.tunables import STORE_START_SECONDS


class Store:
    """The port and the data stay the same over all starts. Call it from the main thread."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._process: subprocess.Popen[bytes] | None = server.bring_up()

    @property
    def up(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it if it is down, and wait until it answers."""
        if not self.up:
            lock = self.server.home.lock(self.server.name)
            children.end_leftover(lock, signal.SIGKILL)  # what the killed one had forked
            self._process = self.server.start()
        self.await_answer()

    def await_answer(self) -> None:
        if not wait_until(self.server.answers, STORE_START_SECONDS):
            raise AssertionError(f"{self.server.name} does not answer")

    def stop(self) -> None:
        """End it cleanly."""
        if self._process is not None:
            self.thaw()
            self.server.halt(self._process)
            self._process = None

    def kill(self) -> None:
        """SIGKILL of its main process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """SIGSTOP of all its processes: connections stay open, nothing is answered."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        pids = [self._process.pid]
        path = f"/proc/{self._process.pid}/task/{self._process.pid}/children"
        with contextlib.suppress(OSError), open(path) as file:  # noqa: PTH123
            pids += [int(pid) for pid in file.read().split()]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
