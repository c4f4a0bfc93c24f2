"""A new version migrates while processes of the version before serve: they must not feel it."""

from collections.abc import Iterator

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from ops.migrate import _config
from tests.factories.databases import empty_database, migrate_to
from tests.factories.rows import Writer
from tests.factories.schemas import complaints, read_schema

FIRST = "0003"  # migrations before it were made when nobody ran the version before
PAIRS = sorted(
    (str(script.down_revision), script.revision)
    for script in ScriptDirectory.from_config(_config()).walk_revisions()
    if script.revision >= FIRST
)


@pytest.fixture
def connection(database: object) -> Iterator[Connection]:
    with empty_database() as url:
        engine = create_engine(url)
        try:
            with engine.connect() as made:
                yield made
        finally:
            engine.dispose()


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_code_of_the_version_before_goes_on_writing_after_a_migration(
    connection: Connection, before: str, after: str
) -> None:
    migrate_to(connection, before)
    schema, old = read_schema(connection), Writer(connection)
    there = old.insert()
    connection.commit()
    migrate_to(connection, after)
    old.update(there)
    old.update(old.insert())
    old.insert(sparing=True)
    newest = Writer(connection).insert()  # the new code's own tables among them
    old.delete(there)
    old.delete(newest)
    assert complaints(schema, read_schema(connection)) == []


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_migration_waits_for_no_table_while_it_keeps_another_from_its_readers(
    connection: Connection, before: str, after: str
) -> None:
    migrate_to(connection, before)
    there = set(inspect(connection).get_table_names()) - {"alembic_version"}
    config = _config()
    config.attributes["connection"] = connection
    connection.rollback()
    with connection.begin():  # stays open after the migration
        command.upgrade(config, after)
        rows = connection.execute(text(LOCKS)).all()
    changed = {table for table, mode in rows if mode in CHANGES} & there
    referred = {table for table, mode in rows if mode == "ShareRowExclusiveLock"} & there
    assert len(changed) <= 1
    assert not (changed and referred - changed)


CHANGES = {"AccessExclusiveLock", "ExclusiveLock", "ShareLock"}
LOCKS = """
SELECT c.relname, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
WHERE l.pid = pg_backend_pid() AND c.relkind = 'r'
"""
BREAKS = {
    "DROP TABLE turn_tool_calls": "turn_tool_calls is gone",
    "ALTER TABLE turns DROP COLUMN page_id": "turns.page_id is gone",
    "ALTER TABLE turns RENAME COLUMN page_id TO place_id": "turns.page_id is gone",
    "ALTER TABLE turns ALTER COLUMN max_steps TYPE text": "another type",
    "ALTER TABLE turns ALTER COLUMN page_id SET NOT NULL": "must not be null",
    "ALTER TABLE pages ALTER COLUMN last_updated_source DROP DEFAULT": "lost its default",
    "ALTER TABLE turns ADD COLUMN colour text NOT NULL": "new and required",
    "DROP INDEX uq_turns_active_chat": "lost an index",
    "DROP INDEX ix_turns_active": "lost an index",
    "CREATE UNIQUE INDEX ON users (name)": "a new uniqueness",
    "ALTER TABLE users ADD CHECK (name <> '')": "more of old columns",
    "ALTER TABLE turns ADD FOREIGN KEY (send_key) REFERENCES spaces (slug)": "more of old columns",
}
HARMLESS = (
    "ALTER TABLE turns ADD COLUMN colour text",
    "ALTER TABLE turns ADD COLUMN colour text NOT NULL DEFAULT 'blue' CHECK (colour <> '')",
    "ALTER TABLE turns ALTER COLUMN driver DROP NOT NULL",
    "CREATE INDEX ON turns (model)",
    "CREATE TABLE colours (turn_id uuid PRIMARY KEY REFERENCES turns ON DELETE CASCADE)",
)


def test_what_would_break_old_code_is_noticed_and_what_only_adds_is_not(
    connection: Connection,
) -> None:
    migrate_to(connection, "head")
    connection.execute(text("ALTER TABLE spaces ADD UNIQUE (slug)"))  # for the foreign key
    connection.commit()
    schema = read_schema(connection)
    for statement, complaint in BREAKS.items():
        connection.execute(text(statement))
        found = complaints(schema, read_schema(connection))
        assert any(complaint in one for one in found), (statement, found)
        connection.rollback()
    for statement in HARMLESS:
        connection.execute(text(statement))
        assert complaints(schema, read_schema(connection)) == [], statement
        connection.rollback()
