"""Keeps processes running: restarts what dies, stops them in order."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ops import children, logs
from ops.children import Child
from ops.state import ProcessState
from shared.core.tunables import (
    RESTART_PAUSE_MAX_SECONDS,
    RESTART_PAUSE_SECONDS,
    SETTLED_SECONDS,
)


@dataclass
class Member:
    """One supervised process.

    On stopping, stages end one after the other, the lowest first; a member is asked by
    `gentle` and has `grace` seconds.
    """

    name: str
    child: Child
    stage: int
    grace: float
    gentle: signal.Signals = signal.SIGTERM
    process: "subprocess.Popen[bytes] | None" = None
    started: float = 0.0
    restarts: int = 0
    pause: float = RESTART_PAUSE_SECONDS
    due: float = 0.0

    def start(self) -> None:
        self.adopt(children.start(self.child))

    def adopt(self, process: "subprocess.Popen[bytes]") -> None:
        self.process, self.started = process, time.time()

    def plan_restart(self) -> None:
        """The pause doubles while it keeps dying young."""
        if time.time() - self.started > SETTLED_SECONDS:
            self.pause = RESTART_PAUSE_SECONDS
        self.due = time.monotonic() + self.pause
        self.pause = min(self.pause * 2, RESTART_PAUSE_MAX_SECONDS)
        self.process = None

    def state(self) -> ProcessState:
        pid = self.process.pid if self.process is not None else None
        return ProcessState(self.name, pid, self.started, self.restarts, str(self.child.log))


class Supervisor:
    """Tends members from one thread: the kernel ties their lives to the thread that forks."""

    def __init__(
        self,
        members: Sequence[Member],
        *,
        report: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        self.members = list(members)
        self._report = report
        self._changed = changed

    def start(self) -> None:
        """Start those that do not run yet."""
        for member in self.members:
            if member.process is None:
                member.start()
        self._changed()

    def tend(self) -> None:
        """One look at every member. Call it a few times a second."""
        changes = [self._tend(member) for member in self.members]
        if any(changes):
            self._changed()

    def _tend(self, member: Member) -> bool:
        logs.bound(member.child.log)
        if member.process is None:
            if time.monotonic() < member.due:
                return False
            member.start()
            member.restarts += 1
            return True
        code = member.process.poll()
        if code is None:
            return False
        member.plan_restart()
        self._report(f"{member.name} ended ({_how(code)}) and is started again")
        return True

    def stop(self, hurry: Callable[[], bool]) -> None:
        """End all, stage by stage; who is in a hurry has them killed."""
        for stage in sorted({member.stage for member in self.members}):
            running = [(m, m.process) for m in self.members if m.stage == stage and m.process]
            for member, process in running:
                children.ask(process, member.gentle)
            for member, process in running:
                children.await_end(process, member.grace, hurry)


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
