"""What a migration may do while processes of the version before still run: only add."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, inspect, text

_INDEXES = """
SELECT t.relname, pg_get_indexdef(i.indexrelid), i.indisunique
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'
"""
_CHECKS = """
SELECT t.relname, pg_get_constraintdef(c.oid),
       array(SELECT attname::text FROM pg_attribute
             WHERE attrelid = t.oid AND attnum = ANY(c.conkey))
FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
WHERE t.relnamespace = 'public'::regnamespace AND c.contype IN ('c', 'f', 'x')
"""
_NAME = re.compile(r"INDEX \S+ ON")


@dataclass(frozen=True)
class Field:
    """What a column takes."""

    type: str
    required: bool
    default: str | None


@dataclass(frozen=True)
class Schema:
    """All tables: their columns, their indexes, and what rows must fulfil (with the columns)."""

    columns: dict[str, dict[str, Field]]
    indexes: dict[tuple[str, str], bool]
    rules: dict[tuple[str, str], frozenset[str]]


def read_schema(connection: Connection) -> Schema:
    """The schema as the catalogue has it."""
    inspector = inspect(connection)
    columns = {
        table: {
            column["name"]: Field(
                str(column["type"]), not column["nullable"], column.get("default")
            )
            for column in inspector.get_columns(table)
        }
        for table in inspector.get_table_names()
    }
    indexes = {
        (table, _NAME.sub("INDEX ON", definition)): unique
        for table, definition, unique in connection.execute(text(_INDEXES))
    }
    rules = {
        (table, definition): frozenset(names)
        for table, definition, names in connection.execute(text(_CHECKS))
    }
    return Schema(columns, indexes, rules)


def complaints(before: Schema, after: Schema) -> list[str]:
    """What code written for `before` would meet in `after`; empty when it was only added to."""
    return [*_columns(before, after), *_indexes(before, after), *_rules(before, after)]


def _columns(before: Schema, after: Schema) -> Iterator[str]:
    for table, old in before.columns.items():
        new = after.columns.get(table)
        if new is None:
            yield f"{table} is gone"
            continue
        for name, field in old.items():
            if name not in new:
                yield f"{table}.{name} is gone"
            elif new[name].type != field.type:
                yield f"{table}.{name} has another type"
            elif new[name].required and not field.required:
                yield f"{table}.{name} must not be null any more"
            elif field.default is not None and new[name].default is None:
                yield f"{table}.{name} has lost its default"
        for name in new.keys() - old.keys():
            if new[name].required and new[name].default is None:
                yield f"{table}.{name} is new and required"


def _indexes(before: Schema, after: Schema) -> Iterator[str]:
    for table, definition in before.indexes.keys() - after.indexes.keys():
        yield f"{table} has lost an index: {definition}"
    for (table, definition), unique in after.indexes.items():
        if unique and table in before.columns and (table, definition) not in before.indexes:
            yield f"{table} demands a new uniqueness: {definition}"


def _rules(before: Schema, after: Schema) -> Iterator[str]:
    for (table, definition), names in after.rules.items():
        new = (table, definition) not in before.rules
        if new and names <= before.columns.get(table, {}).keys():
            yield f"{table} demands more of old columns: {definition}"
