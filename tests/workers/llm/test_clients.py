"""Model clients: made of a connection and nothing else, kept for a version of the settings."""

import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from shared.core.settings import Settings, get_settings
from shared.providers.connections import Connection
from tests.fakes.llm_script import Gate, says, stream, text
from tests.fakes.llm_stub import LlmStub
from workers.clients import Clients
from workers.llm.base import ModelError, ModelRequest, UserMessage
from workers.llm.complete import complete
from workers.llm.drivers import model_for
from workers.runtime import Runtime

QUESTION = ModelRequest("m", "", (UserMessage("Hello?"),))
KEY = SecretStr("sk-of-the-workspace")

# Everything that the openai package, or HTTP clients, would take from the environment.
ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-of-the-environment",
    "OPENAI_ADMIN_KEY": "sk-admin-of-the-environment",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/environment",
    "OPENAI_ORG_ID": "org-environment",
    "OPENAI_PROJECT_ID": "project-environment",
    "OPENAI_WEBHOOK_SECRET": "webhook-environment",
    "OPENAI_CUSTOM_HEADERS": "X-Environment: yes\nAuthorization: Bearer sk-environment-header",
    "OPENAI_API_TYPE": "azure",
    "OPENAI_API_VERSION": "environment",
    "OPENAI_LOG": "debug",
    "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9/environment",
    "AZURE_OPENAI_API_KEY": "sk-azure-environment",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


def connection(stub: LlmStub, key: SecretStr | None = KEY) -> Connection:
    return Connection("openai-compatible", "m", stub.url, key)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login environment password environment\n")
    for name, value in {**ENVIRONMENT, "NETRC": str(netrc)}.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)


@pytest.mark.req("PV-05")
@pytest.mark.usefixtures("environment")
async def test_the_environment_changes_nothing_of_a_request(
    stub: LlmStub, clients: Clients, impatient: Settings
) -> None:
    stub.plays(says("with"), says("without"))
    for key in (KEY, None):
        model = model_for(connection(stub, key), impatient, clients, cache_key=(uuid4(), 1))
        await complete(model, QUESTION)
    with_key, without_key = stub.chats
    assert with_key.headers["authorization"] == "Bearer sk-of-the-workspace"
    assert "authorization" not in without_key.headers
    for request in stub.chats:
        assert "environment" not in str(request.headers).lower()
        assert not any(name.startswith("openai-") for name in request.headers)
        assert request.headers["user-agent"] == "Pageturn"


@pytest.mark.req("PV-05")
@pytest.mark.usefixtures("environment")
async def test_a_copy_of_a_client_is_as_deaf_to_the_environment(
    stub: LlmStub, clients: Clients
) -> None:
    copy = clients.client(connection(stub, None)).with_options(max_retries=0)
    await copy.embeddings.create(model="m", input="x", encoding_format="float")
    assert "authorization" not in stub.embeddings[0].headers
    assert "environment" not in str(stub.embeddings[0].headers).lower()


@pytest.mark.req("PV-05")
@pytest.mark.usefixtures("environment")
async def test_a_key_in_the_environment_configures_nothing(impatient: Settings) -> None:
    wanted = Connection("openai", "m", "https://api.openai.com/v1", missing=("apiKey",))
    with pytest.raises(ModelError) as caught:
        model_for(wanted, impatient)
    assert caught.value.code == "not_configured"


_FRESH = """
import asyncio, logging, sys
from uuid import uuid4
from shared.core.settings import Settings
from shared.providers.connections import Connection
from workers.clients import Clients
from workers.llm.base import ModelRequest, UserMessage
from workers.llm.complete import complete
from workers.llm.drivers import model_for

logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)

async def main():
    settings = Settings()
    clients = Clients(settings)
    model = model_for(
        Connection("ollama", "m", sys.argv[1]), settings, clients, cache_key=(uuid4(), 1)
    )
    print((await complete(model, ModelRequest("m", "", (UserMessage("PROMPT"),))))[0])
    await clients.aclose()

asyncio.run(main())
"""


@pytest.mark.req("PV-05")
async def test_a_process_born_with_that_environment_is_deaf_to_it_and_logs_no_prompt(
    stub: LlmStub,
) -> None:
    stub.plays(says("Hello."))
    born = {**os.environ, **ENVIRONMENT, "PAGETURN_PRIVATE_MODELS": "1", "PYTHONPATH": "."}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _FRESH,
        stub.url,
        env=born,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert out == b"Hello.\n", err
    assert b"PROMPT" not in err
    assert "authorization" not in stub.chats[0].headers
    assert "environment" not in str(stub.chats[0].headers).lower()


@pytest.mark.req("PV-06")
async def test_two_workspaces_use_two_keys_at_the_same_time(
    stub: LlmStub, clients: Clients, impatient: Settings
) -> None:
    gate = Gate()
    stub.plays(*[stream(text("x"), gate, says("y").body)] * 2)
    keys = [SecretStr("sk-workspace-one"), SecretStr("sk-workspace-two")]
    models = [
        model_for(connection(stub, key), impatient, clients, cache_key=(uuid4(), 1)) for key in keys
    ]
    answers = [asyncio.create_task(complete(model, QUESTION)) for model in models]
    await stub.until(lambda: len(stub.chats) == 2)
    gate.open()
    assert [answer for answer, _ in await asyncio.gather(*answers)] == ["xy", "xy"]
    used = {request.headers["authorization"] for request in stub.chats}
    assert used == {"Bearer sk-workspace-one", "Bearer sk-workspace-two"}


@pytest.mark.req("PV-06")
async def test_a_new_version_of_the_settings_has_a_client_of_its_own(
    stub: LlmStub, clients: Clients
) -> None:
    workspace = uuid4()
    first = clients.client(connection(stub), cache_key=(workspace, 1))
    assert clients.client(connection(stub), cache_key=(workspace, 1)) is first
    assert clients.client(connection(stub), cache_key=(workspace, 2)) is not first
    assert clients.client(connection(stub), cache_key=(uuid4(), 1)) is not first
    assert clients.client(connection(stub)) is not clients.client(connection(stub))


async def test_a_client_is_never_used_for_another_key_or_address(
    stub: LlmStub, clients: Clients
) -> None:
    kept = (uuid4(), 1)
    first = clients.client(connection(stub), cache_key=kept)
    other_key = clients.client(connection(stub, SecretStr("sk-other")), cache_key=kept)
    elsewhere = Connection("openai-compatible", "m", "http://127.0.0.1:9/v1", KEY)
    other_address = clients.client(elsewhere, cache_key=kept)
    assert first.api_key == KEY.get_secret_value()
    assert other_key.api_key == "sk-other"
    assert str(other_address.base_url) == "http://127.0.0.1:9/v1/"


async def test_a_client_that_left_the_cache_serves_its_answer_to_the_end_and_is_closed_then(
    stub: LlmStub, impatient: Settings
) -> None:
    clients = Clients(impatient, limit=1)
    gate = Gate()
    stub.plays(stream(text("x"), gate, says("y").body))
    model = model_for(connection(stub), impatient, clients, cache_key=(uuid4(), 1))
    answer = asyncio.create_task(complete(model, QUESTION))
    await stub.until(lambda: stub.chats)
    clients.client(connection(stub), cache_key=(uuid4(), 1))  # takes its place
    gc.collect()
    gate.open()
    assert (await answer)[0] == "xy"
    assert len(clients._transports) == 2
    del answer

    def closed() -> bool:
        gc.collect()
        return len(clients._transports) == 1

    await stub.until(closed)
    await clients.aclose()


async def test_closing_closes_every_connection(stub: LlmStub, impatient: Settings) -> None:
    clients = Clients(impatient)
    made: list[AsyncOpenAI] = []
    for _ in range(3):
        made.append(clients.client(connection(stub), cache_key=(uuid4(), 1)))
        stub.plays(says("x"))
        await complete(
            model_for(connection(stub), impatient, clients, cache_key=(uuid4(), 1)), QUESTION
        )
    await clients.aclose()
    await stub.until(lambda: stub.live == 0)
    assert not clients._transports


async def test_without_shared_clients_a_model_leaves_nothing_open(
    stub: LlmStub, impatient: Settings, clients: Clients
) -> None:
    stub.plays(says("x"), says("x"))
    await complete(model_for(connection(stub), impatient), QUESTION)
    await complete(model_for(connection(stub), impatient, clients), QUESTION)
    await stub.until(lambda: stub.live == 0)


async def test_a_worker_process_has_clients_and_closes_them(
    stub: LlmStub, database: object, redis: object
) -> None:
    runtime = Runtime(get_settings().model_copy(update={"private_models": True}))
    stub.plays(says("x"))
    model = model_for(connection(stub), runtime.settings, runtime.clients, cache_key=(uuid4(), 1))
    assert (await complete(model, QUESTION))[0] == "x"
    assert stub.live == 1
    await runtime.close()
    await stub.until(lambda: stub.live == 0)


@pytest.mark.parametrize("driver", ["openai", "anthropic", "gemini", "ollama", "openai-compatible"])
async def test_every_driver_asks_its_own_address_with_its_key_if_it_has_one(
    driver: str, stub: LlmStub, impatient: Settings
) -> None:
    for key in (KEY, None):
        stub.plays(says("x"))
        model = model_for(Connection(driver, "m", stub.url, key), impatient)
        assert (await complete(model, QUESTION))[0] == "x"
        request = stub.chats[-1]
        assert request.path == "/v1/chat/completions"
        expected = None if key is None else f"Bearer {key.get_secret_value()}"
        assert request.headers.get("authorization") == expected
