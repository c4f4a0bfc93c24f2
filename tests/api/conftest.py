"""A client of the application behind a real server, for streams."""

from collections.abc import AsyncIterator

import httpx2
import pytest


@pytest.fixture
async def live_client(live_server: str) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=100)
    async with httpx2.AsyncClient(base_url=live_server, timeout=20, limits=limits) as http:
        yield http
