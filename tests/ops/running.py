"""Starts the stand-in Pageturn and looks at it from outside."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ops import ports
from ops.children import held
from ops.home import Home
from ops.processes import ROOT
from ops.state import ProcessState, State, read_state
from ops.waiting import wait_until
from shared.core.errors import PageturnError

NAMES = ("api", "worker-chat", "postgres", "valkey")


@dataclass
class Running:
    """One data folder and whatever serves it."""

    folder: Path
    port: int = field(default_factory=ports.pick)
    flower_port: int = field(default_factory=ports.pick)

    @property
    def home(self) -> Home:
        return Home(self.folder / "home")

    def environment(self, **more: str) -> dict[str, str]:
        ours = ("DATABASE_URL", "REDIS_URL", "APP_SECRET", "PAGETURN_PRIVATE_MODELS")
        kept = {name: value for name, value in os.environ.items() if name not in ours}
        named = {"PAGETURN_HOME": str(self.home.root), "PAGETURN_PORT": str(self.port)}
        return kept | named | {"PAGETURN_FLOWER_PORT": str(self.flower_port)} | more

    def start(self, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "tests.ops.stand_in_pageturn", *arguments],
            cwd=ROOT,
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def refused(self, *arguments: str, **more: str) -> str:
        """The one line with which it ends at once, having left nothing behind."""
        process = self.start(*arguments, **more)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 1
        assert errors.count("\n") == 1, errors
        return errors

    def serve(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start, and wait until it says that it is ready."""
        process = self.start(*arguments)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Ctrl-C"):
                return process
        raise AssertionError(process.communicate()[1])

    def state(self) -> State | None:
        try:
            return read_state(self.home)
        except PageturnError:
            return None

    def process(self, name: str) -> ProcessState:
        state = self.state()
        assert state is not None
        return next(process for process in state.processes if process.name == name)

    def pid(self, name: str) -> int:
        pid = self.process(name).pid
        assert pid is not None
        return pid

    def lives(self, name: str) -> bool:
        return held(self.home.lock(name))

    def all_gone(self) -> bool:
        return wait_until(lambda: not any(self.lives(name) for name in NAMES), 10)
