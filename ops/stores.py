"""Both embedded stores at once: for tests and for commands that need them for a moment."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ops.home import open_home
from ops.postgres import Postgres
from ops.server import Server
from ops.valkey import Valkey


@dataclass(frozen=True)
class Stores:
    """Running stores; they also end when the process that started them does.

    `database_url` names an empty database `pageturn` that holds the extensions; its role may
    make further databases, which hold them too.
    """

    database_url: str
    redis_url: str
    stop: Callable[[], None]


def start_embedded(home: Path, *, durable: bool = True) -> Stores:
    """Start PostgreSQL and Valkey in this data folder. Call it from the main thread.

    Raises StoreError or HomeError. `durable=False` trades safety for speed, for tests.
    """
    opened = open_home(home)
    postgres, valkey = Postgres(opened, durable=durable), Valkey(opened, durable=durable)
    started: list[tuple[Server, subprocess.Popen[bytes]]] = []

    def stop() -> None:
        while started:
            server, process = started.pop()
            server.halt(process)

    try:
        for server in (postgres, valkey):
            started.append((server, server.bring_up()))
    except BaseException:
        stop()
        raise
    return Stores(postgres.url, valkey.url, stop)
