"""Runs migrations on the connection handed in by `ops.migrate`, or on DATABASE_URL."""

from alembic import context
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection

from shared.core.settings import get_settings
from shared.models import metadata


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        transaction_per_migration=True,  # each waits for its table while it holds no other
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with create_engine(get_settings().require_database_url()).connect() as own:
        run(own)
