"""A worker's runtime on the test's own loop."""

from collections.abc import AsyncIterator

import pytest

from shared.core.settings import get_settings
from tests.fakes.llm_stub import LlmStub
from tests.fakes.turns import Stage
from workers.runtime import Runtime


@pytest.fixture
async def stub() -> AsyncIterator[LlmStub]:
    """A provider whose whole script a test must use up."""
    async with LlmStub() as server:
        yield server
        server.assert_consumed()


@pytest.fixture
async def stage(database: object, redis: object) -> AsyncIterator[Stage]:
    """Depends on the stores' fixtures so that they are clean."""
    runtime = Runtime(get_settings())
    yield Stage(runtime)
    await runtime.close()
