"""The harness's own look at PostgreSQL, which may be down at times."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import psycopg

Row = tuple[Any, ...]
_CONNECT_SECONDS = 5


class Sql:
    """Queries on one connection, opened again when it was lost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Row] | None = None

    def __call__(self, query: str, *params: Any) -> list[Row]:
        """The rows; none of a statement that gives none. Raises psycopg.OperationalError."""
        with self._lock:
            try:
                return self._run(query, params)
            except psycopg.OperationalError:
                self.close()
                return self._run(query, params)

    def _run(self, query: str, params: tuple[Any, ...]) -> list[Row]:
        if self._connection is None or self._connection.closed:
            self._connection = self.connect(autocommit=True)
        cursor = self._connection.execute(query, params or None)
        return cursor.fetchall() if cursor.description else []

    def connect(self, *, autocommit: bool = False) -> "psycopg.Connection[Row]":
        return psycopg.connect(self._url, autocommit=autocommit, connect_timeout=_CONNECT_SECONDS)

    @contextlib.contextmanager
    def transaction(self) -> "Iterator[psycopg.Connection[Row]]":
        """A transaction on a connection of its own: for row locks. Rolled back at the end."""
        connection = self.connect()
        try:
            yield connection
        finally:
            with contextlib.suppress(psycopg.Error):
                connection.rollback()
            connection.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
