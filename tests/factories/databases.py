"""Databases of a test's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from alembic import command
from sqlalchemy import Connection, create_engine, text

from ops.migrate import _config
from shared.core.settings import get_settings


@contextmanager
def empty_database() -> Iterator[str]:
    """The URL of a database without tables, dropped at the end."""
    name = f"own_{uuid4().hex[:8]}"
    server = create_engine(get_settings().require_database_url(), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield server.url.set(database=name).render_as_string(hide_password=False)
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


def migrate_to(connection: Connection, revision: str) -> None:
    """Run the migrations up to this one, and commit."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    connection.commit()
