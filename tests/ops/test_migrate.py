"""A migration of a database that others are using."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, create_engine, text

from ops import migrate
from ops.errors import MigrationRunsError, TablesInUseError
from shared.core.tunables import MIGRATE_TRY_SECONDS
from tests.factories.databases import empty_database, migrate_to

TRY, PAUSE = 0.4, 0.1


@pytest.fixture
def engine(database: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A database of the version before the one that changes `turns`, with short waits."""
    monkeypatch.setattr(migrate, "MIGRATE_TRY_SECONDS", TRY)
    monkeypatch.setattr(migrate, "MIGRATE_PAUSE_SECONDS", PAUSE)
    with empty_database() as url:
        made = create_engine(url)
        with made.connect() as connection:
            migrate_to(connection, "0002")
        yield made
        made.dispose()


def url_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def revision(engine: Engine) -> str:
    with engine.connect() as connection:
        return str(connection.scalar(text("SELECT version_num FROM alembic_version")))


def waiting_for_locks(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(
            connection.scalar(
                text(
                    "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
                    " WHERE d.datname = current_database() AND NOT l.granted"
                )
            )
        )


def wait_until(condition: object, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_who_comes_while_a_change_waits_is_served_and_the_change_is_made_when_it_can(
    engine: Engine,
) -> None:
    with ThreadPoolExecutor(1) as pool, engine.connect() as long:
        long.execute(text("SELECT count(*) FROM turns"))  # and its transaction stays open
        migration = pool.submit(migrate.upgrade, url_of(engine))
        wait_until(lambda: waiting_for_locks(engine) == 1)
        slowest = 0.0
        for _ in range(20):
            begun = time.monotonic()
            with engine.begin() as other:
                other.execute(text("UPDATE turns SET attempts = attempts"))
                other.execute(text("SELECT count(*) FROM turns"))
            slowest = max(slowest, time.monotonic() - begun)
            threading.Event().wait(0.05)
        assert not migration.done()
        assert slowest < 3 * TRY, slowest
        assert revision(engine) == "0002"
        long.rollback()
        migration.result(timeout=10)
    assert revision(engine) > "0002"


def test_who_holds_one_table_and_wants_another_is_never_ended_for_a_deadlock(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "MIGRATE_TRY_SECONDS", MIGRATE_TRY_SECONDS)

    def write(old: Connection) -> None:
        old.execute(text("UPDATE turns SET attempts = attempts"))
        old.commit()

    with ThreadPoolExecutor(2) as pool, engine.connect() as old, engine.connect() as other:
        old.execute(text("SELECT count(*) FROM ai_settings"))
        other.execute(text("SELECT count(*) FROM turn_tool_calls"))
        migration = pool.submit(migrate.upgrade, url_of(engine))
        wait_until(lambda: waiting_for_locks(engine) == 1)
        writing = pool.submit(write, old)
        wait_until(lambda: waiting_for_locks(engine) == 2 or writing.done())
        threading.Event().wait(0.8)
        other.rollback()  # and now the migration wants the settings
        writing.result(timeout=10)
        migration.result(timeout=10)
    assert revision(engine) > "0002"


def test_when_the_tables_never_come_free_it_gives_up_and_says_what_to_look_for(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "MIGRATE_LOCK_SECONDS", 1)
    with engine.connect() as long:
        long.execute(text("SELECT count(*) FROM turns"))
        with pytest.raises(TablesInUseError, match="idle transaction"):
            migrate.upgrade(url_of(engine))
        assert revision(engine) == "0002"
        with engine.begin() as other:
            other.execute(text("UPDATE turns SET attempts = attempts"))
    migrate.upgrade(url_of(engine))
    assert revision(engine) > "0002"


def test_a_second_migration_waits_for_the_first_longer_than_a_change_waits_for_its_table(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as pool:
        with engine.connect() as first:
            first.execute(text("SELECT pg_advisory_lock(:key)"), {"key": migrate._LOCK_KEY})
            second = pool.submit(migrate.upgrade, url_of(engine))
            wait_until(lambda: waiting_for_locks(engine) == 1)
            threading.Event().wait(2 * TRY)
            assert not second.done()
            first.invalidate()  # the first one's connection closes
        second.result(timeout=10)
    assert revision(engine) > "0002"
    monkeypatch.setattr(migrate, "MIGRATE_LOCK_SECONDS", 0.2)
    with engine.connect() as stuck:
        stuck.execute(text("SELECT pg_advisory_lock(:key)"), {"key": migrate._LOCK_KEY})
        with pytest.raises(MigrationRunsError):
            migrate.upgrade(url_of(engine))
        stuck.invalidate()
