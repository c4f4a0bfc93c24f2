"""A worker beside the served application."""

from collections.abc import AsyncIterator

import pytest

from shared.core.db import Database
from shared.core.settings import get_settings
from tests.fakes.turns import Stage
from workers.runtime import Runtime


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    runtime = Runtime(get_settings())
    yield Stage(runtime)
    await runtime.close()
