"""A worker process as it runs in production, on the stores of the test."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ops.processes import ROOT, process_named
from shared.core.settings import get_settings

END_SECONDS = 30.0


@dataclass(frozen=True)
class Worker:
    """`path` is its log."""

    process: "subprocess.Popen[bytes]"
    path: Path

    def log(self) -> str:
        return self.path.read_text(errors="replace")

    def stop(self) -> None:
        """As a supervisor stops it."""
        self.process.terminate()
        self.process.wait(END_SECONDS)


@contextmanager
def running_worker(name: str) -> Iterator[Worker]:
    """One of `ops.processes`, stopped at the end. It may not have begun to take jobs yet."""
    argv = process_named(name).argv(get_settings())
    with tempfile.NamedTemporaryFile() as file:
        environment = os.environ | {"PAGETURN_PROCESS": name}
        process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=file, stderr=file)
        worker = Worker(process, Path(file.name))
        try:
            yield worker
        finally:
            worker.stop()
