"""The servers of a test run, and a database for each process that runs tests.

`PAGETURN_TEST_DATABASE_URL` and `PAGETURN_TEST_REDIS_URL` name servers to use instead of
the embedded ones; the database role must be allowed to create databases.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from ops.migrate import upgrade


@dataclass(frozen=True)
class Servers:
    """Running stores. `template` is a database that holds the migrated schema."""

    database_url: str
    redis_url: str
    template: str
    stop: Callable[[], None]


def start_servers() -> Servers:
    """Start the stores of a run (or take the given ones) and migrate the template."""
    home = Path(tempfile.mkdtemp(prefix="pageturn-test-"))
    home.chmod(0o755)  # as root the servers run as another user, who must reach the binaries
    database_url, redis_url, halt = _stores(home / "stores")
    template = f"pageturn_test_{os.getpid()}"
    _execute(database_url, "CREATE DATABASE {}", template)
    upgrade(_with_path(database_url, template))

    def stop() -> None:
        _execute(database_url, "DROP DATABASE IF EXISTS {} WITH (FORCE)", template)
        halt()
        shutil.rmtree(home, ignore_errors=True)

    return Servers(database_url, redis_url, template, stop)


def _stores(home: Path) -> tuple[str, str, Callable[[], None]]:
    database_url = os.environ.get("PAGETURN_TEST_DATABASE_URL")
    redis_url = os.environ.get("PAGETURN_TEST_REDIS_URL")
    if database_url and redis_url:
        return database_url, redis_url, lambda: None
    from ops.stores import start_embedded

    stores = start_embedded(home, durable=False)
    return stores.database_url, stores.redis_url, stores.stop


@dataclass(frozen=True)
class Own:
    """The stores of one test process."""

    database_url: str
    redis_url: str
    drop: Callable[[], None]


def clone(database_url: str, redis_url: str, template: str, number: int) -> Own:
    """A copy of the template, and a Redis database number of one's own."""
    name = f"{template}_{number}"
    _execute(database_url, "CREATE DATABASE {} TEMPLATE {}", name, template)

    def drop() -> None:
        _execute(database_url, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    return Own(_with_path(database_url, name), _with_path(redis_url, str(number)), drop)


def _with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))


def _execute(url: str, statement: str, *names: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        query = sql.SQL(statement).format(*(sql.Identifier(name) for name in names))  # type: ignore[arg-type]
        connection.execute(query)
