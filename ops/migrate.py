"""Brings the database to the schema of this code."""

import time

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import DeadlockDetected, LockNotAvailable
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError

from ops.errors import MigrationRunsError, NewerDatabaseError, OpsError, TablesInUseError
from ops.processes import ROOT
from shared.core.settings import Settings
from shared.core.tunables import (
    MIGRATE_LOCK_SECONDS,
    MIGRATE_PAUSE_SECONDS,
    MIGRATE_TRY_SECONDS,
    STORE_CONNECT_SECONDS,
)

_LOCK_KEY = 4_733_201  # an arbitrary number that only migrations of Pageturn use


def upgrade(database_url: str) -> None:
    """Run what is missing; two at once wait for each other.

    Others may go on using the tables: a change waits for them only a moment at a time, since
    everybody else would wait behind it. Raises NewerDatabaseError when the database holds a
    revision that this code does not know, MigrationRunsError and TablesInUseError when it
    waited in vain, OpsError when the database cannot be reached.
    """
    url = Settings.model_validate({"DATABASE_URL": database_url}).require_database_url()
    engine = create_engine(url, connect_args={"connect_timeout": STORE_CONNECT_SECONDS})
    try:
        with engine.connect() as connection:
            _wait_for_others(connection)
            refuse_newer(_revisions(connection))
            _upgrade(connection)
    except OperationalError as error:
        raise OpsError(
            f"The database does not answer: {str(error.orig).splitlines()[0]}"
        ) from error
    finally:
        engine.dispose()


def _wait_for_others(connection: Connection) -> None:
    """Until no other migration runs; none begins while this connection is open."""
    _limit_locks(connection, MIGRATE_LOCK_SECONDS)
    try:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK_KEY})
    except OperationalError as error:
        if isinstance(error.orig, LockNotAvailable):
            raise MigrationRunsError from error
        raise
    connection.commit()


def _upgrade(connection: Connection) -> None:
    """One migration after the other, each tried again while others hold its table."""
    _limit_locks(connection, MIGRATE_TRY_SECONDS)
    config = _config()
    config.attributes["connection"] = connection
    deadline = time.monotonic() + MIGRATE_LOCK_SECONDS
    while True:
        try:
            command.upgrade(config, "head")
            connection.commit()
        except OperationalError as error:
            if not isinstance(error.orig, LockNotAvailable | DeadlockDetected):
                raise
            connection.rollback()
            if time.monotonic() > deadline:
                raise TablesInUseError from error
            time.sleep(MIGRATE_PAUSE_SECONDS)
        else:
            return


def _limit_locks(connection: Connection, seconds: float) -> None:
    connection.execute(text(f"SET lock_timeout = {round(seconds * 1000)}"))
    connection.commit()


def refuse_newer(revisions: tuple[str, ...]) -> None:
    """Raises NewerDatabaseError when this code does not know one of them."""
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if not set(revisions) <= known:
        raise NewerDatabaseError


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations").replace("%", "%%"))
    return config


def _revisions(connection: Connection) -> tuple[str, ...]:
    revisions = MigrationContext.configure(connection).get_current_heads()
    connection.rollback()
    return revisions
