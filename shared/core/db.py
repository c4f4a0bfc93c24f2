"""The database: one engine a process, sessions that the edges commit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import DateTime, MetaData
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import DeclarativeBase

from shared.core.tunables import (
    DB_POOL_SIZE,
    DB_POOL_WAIT_SECONDS,
    IDLE_TRANSACTION_TIMEOUT_MS,
    STATEMENT_TIMEOUT_MS,
)

NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Every table. Relationships are not used: a repository loads what a query needs."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy's own convention
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB(none_as_null=True),
        list[Any]: JSONB(none_as_null=True),
    }


def make_engine(url: str, *, pool_size: int = DB_POOL_SIZE) -> AsyncEngine:
    """An engine whose JSON goes through orjson and whose statements are bounded in time."""
    return create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=DB_POOL_WAIT_SECONDS,
        pool_pre_ping=True,
        hide_parameters=True,  # an error's text must not quote a page or a prompt
        json_serializer=lambda value: orjson.dumps(value).decode(),
        json_deserializer=orjson.loads,
        connect_args={
            "options": f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c timezone=UTC"
            # A process that was frozen in a transaction must not hold its locks for ever.
            f" -c idle_in_transaction_session_timeout={IDLE_TRANSACTION_TIMEOUT_MS}",
            "connect_timeout": 5,
            "application_name": "pageturn",
        },
    )


def database_away(error: Exception) -> bool:
    """Whether trying again may well succeed. What the database refuses, it refuses again."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | PoolTimeoutError)


class Database:
    """An engine and its sessions.

    A session from `session()` is one transaction: committed when the block ends, rolled
    back when it raises.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._sessions = async_sessionmaker(engine, expire_on_commit=False)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[AsyncSession]:
        async with self._sessions() as session, session.begin():
            yield session

    async def close(self) -> None:
        await self.engine.dispose()
