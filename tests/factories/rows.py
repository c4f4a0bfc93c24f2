"""Rows for every table, whatever the tables are: what some version of the code would write."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import uuid4

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    DateTime,
    LargeBinary,
    MetaData,
    Numeric,
    Table,
    insert,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import Integer, Uuid

from tests.factories.schemas import read_schema

_numbers = count(1)


class Writer:
    """Writes rows as code does that knows the tables as they are when this is made."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._metadata = MetaData()
        self._metadata.reflect(connection)
        self._allowed = {
            (table, name): quoted[1]
            for (table, definition), names in read_schema(connection).rules.items()
            for name in names
            if len(names) == 1 and (quoted := re.search(r"'([^']*)'", definition))
        }

    def insert(self, *, sparing: bool = False) -> dict[str, dict[str, Any]]:
        """A row in every table, which refer to each other; `sparing`: with nothing in columns
        that may be left out. The rows, by table."""
        rows: dict[str, dict[str, Any]] = {}
        for table in self._in_order():
            row = {c.name: self._value(c, rows) for c in self._named(table, sparing=sparing)}
            self._connection.execute(insert(table).values(row))
            rows[table.name] = row
        return rows

    def update(self, rows: dict[str, dict[str, Any]]) -> None:
        """Write all of each row again; each must still be there."""
        for table in self._in_order():
            row = rows[table.name]
            keys = [c == row[c.name] for c in table.primary_key]
            done = self._connection.execute(table.update().where(*keys).values(row))
            assert done.rowcount == 1, table.name

    def delete(self, rows: dict[str, dict[str, Any]]) -> None:
        """Remove the workspace, with which all of its rows go."""
        workspaces = self._metadata.tables["workspaces"]
        chosen = workspaces.c.id == rows["workspaces"]["id"]
        assert self._connection.execute(workspaces.delete().where(chosen)).rowcount == 1

    def _in_order(self) -> list[Table]:
        """Each table after those that a row of it must refer to."""
        waiting = [t for t in self._metadata.tables.values() if t.name != "alembic_version"]
        ordered: list[Table] = []
        while waiting:
            ready = [
                t for t in waiting if not self._needs(t) & {w.name for w in waiting} - {t.name}
            ]
            assert ready, [t.name for t in waiting]
            ordered += ready
            waiting = [t for t in waiting if t not in ready]
        return ordered

    @staticmethod
    def _needs(table: Table) -> set[str]:
        return {
            key.column.table.name
            for column in table.columns
            if not column.nullable
            for key in column.foreign_keys
        }

    @staticmethod
    def _named(table: Table, *, sparing: bool) -> Iterator["Column[Any]"]:
        for column in table.columns:
            optional = column.nullable or column.server_default is not None
            if column.computed is None and not (sparing and optional):
                yield column

    def _value(self, column: "Column[Any]", rows: dict[str, dict[str, Any]]) -> Any:
        for key in column.foreign_keys:
            target = rows.get(key.column.table.name)
            return None if target is None else target[key.column.name]
        allowed = self._allowed.get((column.table.name, column.name))
        if allowed is not None:
            return allowed
        kinds: dict[type[Any], Any] = {
            Uuid: uuid4(),
            Boolean: False,
            Integer: next(_numbers),
            Numeric: Decimal(1),
            DateTime: datetime.now(UTC),
            JSONB: {},
            LargeBinary: str(next(_numbers)).encode(),
            Vector: [0.5, 0.5],
        }
        for kind, value in kinds.items():
            if isinstance(column.type, kind):
                return value
        return f"text {next(_numbers)}"
