"""The installation that is soaked: `pageturn up`, whose processes are killed and started again,
and beside it an API and a chat worker that live through all of it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
from redis import Redis

from ops.home import read_json
from tests.fakes.installation import PAGETURN, Installation, free_port, wait_for

SECRET = "soak-" + "0" * 40
STREAM_SECONDS = 600  # a turn's events live an hour; here so short that a plateau can be seen
STEADY = ("steady-api", "steady-chat")


@dataclass
class Place:
    installation: Installation
    steady: dict[str, "subprocess.Popen[bytes]"]
    steady_port: int
    database_url: str
    redis_url: str

    @property
    def urls(self) -> list[str]:
        return [self.installation.url, f"http://127.0.0.1:{self.steady_port}"]

    def pids(self) -> dict[str, int]:
        """Name → process id, of everything that runs now."""
        steady = {name: process.pid for name, process in self.steady.items()}
        return self.installation.children() | steady

    def kill(self, name: str) -> None:
        with contextlib.suppress(ProcessLookupError, KeyError):
            os.kill(self.installation.children()[name], signal.SIGKILL)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(query).fetchall()  # type: ignore[arg-type]

    def redis(self) -> "Redis":
        return Redis.from_url(self.redis_url)


@contextlib.contextmanager
def place(folder: Path) -> Iterator[Place]:
    extra = {
        "APP_SECRET": SECRET,
        "PAGETURN_PRIVATE_MODELS": "true",
        "PAGETURN_STREAM_TTL_SECONDS": str(STREAM_SECONDS),
    }
    installation = Installation(folder / "home", extra=extra)
    steady: dict[str, subprocess.Popen[bytes]] = {}
    try:
        installation.start()
        state = read_json(installation.home / "run" / "state.json")
        port = free_port()
        environment = installation.env | {
            "DATABASE_URL": state["database_url"],
            "REDIS_URL": state["redis_url"],
            "PAGETURN_PORT": str(port),
        }
        for name, process in zip(STEADY, ("api", "worker-chat"), strict=True):
            with (folder / f"{name}.log").open("ab") as log:
                steady[name] = subprocess.Popen(
                    [str(PAGETURN), "process", process], env=environment, stdout=log, stderr=log
                )
        address = f"http://127.0.0.1:{port}/healthz"
        wait_for(lambda: httpx2.get(address, timeout=2).is_success, 60, "the steady API answers")
        url = state["database_url"].replace("postgresql+psycopg://", "postgresql://")
        yield Place(installation, steady, port, url, state["redis_url"])
    finally:
        for process in steady.values():
            process.terminate()
        for process in steady.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait(10)
        if installation.process is not None:
            installation.stop()
