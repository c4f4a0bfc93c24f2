"""Brings the database to the schema of this code."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError

from ops.errors import NewerDatabaseError, OpsError
from ops.processes import ROOT
from shared.core.settings import Settings
from shared.core.tunables import MIGRATE_LOCK_SECONDS, STORE_CONNECT_SECONDS

_LOCK_KEY = 4_733_201  # an arbitrary number that only migrations of Pageturn use


def upgrade(database_url: str) -> None:
    """Run what is missing; two at once wait for each other.

    Raises NewerDatabaseError when the database holds a revision that this code does not
    know, OpsError when it cannot be reached.
    """
    url = Settings.model_validate({"DATABASE_URL": database_url}).require_database_url()
    engine = create_engine(url, connect_args={"connect_timeout": STORE_CONNECT_SECONDS})
    config = _config()
    try:
        with engine.connect() as connection:
            connection.execute(text(f"SET lock_timeout = '{MIGRATE_LOCK_SECONDS}s'"))
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK_KEY})
            connection.commit()
            refuse_newer(_revisions(connection))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
    except OperationalError as error:
        raise OpsError(
            f"The database does not answer: {str(error.orig).splitlines()[0]}"
        ) from error
    finally:
        engine.dispose()


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
