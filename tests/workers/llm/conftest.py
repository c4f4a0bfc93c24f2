"""A stub server, and models that talk to it."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from shared.core.settings import Settings, get_settings
from shared.providers.connections import Connection
from tests.fakes.llm_stub import LlmStub
from workers.clients import Clients
from workers.llm.base import Model
from workers.llm.drivers import model_for

MakeModel = Callable[..., Model]


@pytest.fixture
def impatient() -> Settings:
    """Settings with which nothing takes long."""
    return get_settings().model_copy(
        update={
            "private_models": True,
            "model_silence_seconds": 2.0,
            "model_retry_seconds": 0.001,
            "model_tail_seconds": 0.2,
        }
    )


@pytest.fixture
async def clients(impatient: Settings) -> AsyncIterator[Clients]:
    kept = Clients(impatient)
    yield kept
    await kept.aclose()


@pytest.fixture
def make_model(stub: LlmStub, clients: Clients, impatient: Settings) -> MakeModel:
    """Makes a model of a driver behind the stub: `make_model("gemini", model_tail_seconds=1)`."""

    def make(
        driver: str = "openai-compatible", *, key: str | None = "sk-test-1234567", **more: Any
    ):
        connection = Connection(
            driver, "m", base_url=stub.url, api_key=None if key is None else SecretStr(key)
        )
        settings = impatient.model_copy(update=more)
        return model_for(connection, settings, clients, cache_key=(uuid4(), 1))

    return make
