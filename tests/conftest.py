"""Real stores for every test run: one PostgreSQL and one Valkey, a database for each worker.

What a test leaves behind is removed before the next one that uses the stores.
"""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy import delete

from shared.accounts.models import Workspace
from shared.bus.jobs import drain
from shared.core.db import Database, make_engine
from shared.core.redis import make_redis
from shared.core.settings import get_settings
from shared.models import metadata
from tests.factories.requirement_ids import RequirementIds
from tests.factories.stores import Own, Servers, clone, start_servers
from tests.factories.world import World, make_world

_SERVERS = pytest.StashKey[Servers]()
_OWN = pytest.StashKey[Own]()
assert metadata.tables  # every table is known, whatever a test imports


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the stores (in the process that starts the workers) and name them to settings."""
    config.option.allow_hosts = "127.0.0.1,::1"  # pytest-socket: nothing leaves this machine
    config.option.allow_unix_socket = True
    config.pluginmanager.register(RequirementIds(), "requirement-ids")
    os.environ["APP_SECRET"] = "only-for-tests-" + "0" * 32
    os.environ |= {"PAGETURN_PING_SECONDS": "0.5", "PAGETURN_OFFLINE_PIECE_SECONDS": "0"}
    os.environ["PAGETURN_HOME"] = tempfile.mkdtemp(prefix="pageturn-test-home-")
    for name in ("PAGETURN_OWNER_EMAIL", "PAGETURN_OWNER_PASSWORD", "PAGETURN_EMBEDDING_DIR"):
        os.environ.pop(name, None)
    if config.option.collectonly:
        return
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is None:
        config.stash[_SERVERS] = servers = start_servers()
        if config.getoption("numprocesses", None):
            return
        names, number = (servers.database_url, servers.redis_url, servers.template), 0
    else:
        names, number = given["stores"], int(given["workerid"].removeprefix("gw"))
    config.stash[_OWN] = own = clone(*names, number)
    os.environ["DATABASE_URL"], os.environ["REDIS_URL"] = own.database_url, own.redis_url


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    servers = node.config.stash[_SERVERS]
    node.workerinput["stores"] = (servers.database_url, servers.redis_url, servers.template)


def pytest_unconfigure(config: pytest.Config) -> None:
    if own := config.stash.get(_OWN, None):
        own.drop()
    if servers := config.stash.get(_SERVERS, None):
        servers.stop()
    shutil.rmtree(os.environ["PAGETURN_HOME"], ignore_errors=True)


@pytest.fixture(scope="session")
async def _database() -> AsyncIterator[Database]:
    database = Database(make_engine(get_settings().require_database_url(), pool_size=5))
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def _redis() -> AsyncIterator["Redis"]:
    client = make_redis(get_settings())
    yield client
    await client.aclose()


@pytest.fixture
async def redis(_redis: "Redis") -> AsyncIterator["Redis"]:
    """An empty Redis database."""
    await _redis.flushdb()
    yield _redis
    await drain()


@pytest.fixture
async def database(_database: Database, redis: "Redis") -> Database:
    """The migrated schema without a row. Needs `redis`: a commit enqueues jobs there."""
    async with _database.session() as session:
        # Everything belongs to a workspace and goes with it; to truncate takes ten times longer.
        await session.execute(delete(Workspace))
    return _database


@pytest.fixture
async def world(database: Database) -> World:
    """Two workspaces with their people; see `tests/factories/world.py`."""
    return await make_world(database)


@pytest.fixture(scope="session")
def _app() -> FastAPI:
    """Made once: an application builds its routes at its first request, which takes 0.1 s."""
    from api.main import create_app

    return create_app()


@pytest.fixture
async def app(_app: FastAPI, database: Database) -> AsyncIterator[FastAPI]:
    """The application, started. What a test hangs into it is taken out again."""
    default = _app.router.default
    async with _app.router.lifespan_context(_app):
        yield _app
    _app.dependency_overrides.clear()
    _app.router.default = default


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a network in between. It reads whole answers: for streams take
    `live_server`."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
        yield http


@pytest.fixture
def live_server(database: Database) -> Iterator[str]:
    """The base address of the application behind a real server."""
    from tests.factories.live_server import serving

    with serving() as address:
        yield address
