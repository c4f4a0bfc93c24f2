"""A provider's key is nowhere but sealed in its row."""

import base64
from collections.abc import Iterator

import httpx2
import orjson
import pytest
from redis.asyncio import Redis
from sqlalchemy import select, text

from shared.core.db import Database
from shared.providers.models import ProviderCredential
from tests.api.settings.admin import SETTINGS, TEST, Admin
from tests.api.settings.conftest import Worker
from tests.factories.world import World
from tests.fakes.llm_script import error, says
from tests.fakes.llm_stub import LlmStub

CHAT_KEY = "sk-canary-Zx9Qw8Er7Ty6Ui5Op4As3Df2"
EMBEDDING_KEY = "emb-canary-Lk1Jh2Gf3Ds4Ap5Oi6Uy7Tr8"
PART = 8  # characters of a key, anywhere, are a leak

READ = (
    SETTINGS,
    "/v1/workspace/ai-status",
    "/v1/workspace/ai-models",
    "/v1/ai/models",
    "/v1/ai/chats",
    "/v1/auth/me",
    "/v1/spaces",
    "/v1/search?q=canary",
    "/v1/workspace/info",
    "/openapi.json",
    "/metrics",
)


def parts() -> Iterator[str]:
    for key in (CHAT_KEY, EMBEDDING_KEY):
        yield from (key[at : at + PART] for at in range(len(key) - PART + 1))


def leaks(what: str | bytes) -> list[str]:
    where = what.decode("latin-1") if isinstance(what, bytes) else what
    return [part for part in parts() if part in where]


def spellings(sealed: bytes) -> tuple[str, ...]:
    encoded = (base64.b64encode(sealed), base64.urlsafe_b64encode(sealed))
    return (sealed.hex(), *(one.decode().rstrip("=") for one in encoded))


async def use_everything(
    owner: Admin, writer: Admin, stub: LlmStub, world: World
) -> list[httpx2.Response]:
    """Save keys, have them refused and echoed, and read whatever there is to read."""
    client, answers = owner.client, []
    echo = f"key {CHAT_KEY} is wrong"
    stub.plays(error(401, echo), says("ready"))
    stub.fallback = error(500, echo, headers={"x-key": CHAT_KEY})
    stub.plays_embeddings(error(403, f"key {EMBEDDING_KEY} is wrong"))
    address = {"baseUrl": stub.url, "embeddingBaseUrl": stub.url}
    keys = {"apiKey": CHAT_KEY, "embeddingApiKey": EMBEDDING_KEY}
    drivers = {"driver": "openai", "embeddingDriver": "ollama", "embeddingModel": "e"}
    form = {**drivers, **address, **keys, "chatModel": "m"}
    chat, embeddings = {"capability": "chat"}, {"capability": "embeddings"}
    for method, path, body in (
        ("PATCH", SETTINGS, {**form, "baseUrl": f"http://{CHAT_KEY}@x"}),
        ("PATCH", SETTINGS, {"driver": "openai", "apiKey": f"{CHAT_KEY} {EMBEDDING_KEY}"}),
        ("PATCH", SETTINGS, {"driver": "offline", "apiKey": CHAT_KEY}),
        ("PATCH", SETTINGS, {"apiKey": [CHAT_KEY], "systemPrompt": 7}),
        ("POST", TEST, {**chat, **form}),
        ("PATCH", SETTINGS, form),
        ("POST", TEST, chat),
        ("POST", TEST, {**chat, "chatModel": "other"}),
        ("POST", TEST, embeddings),
        ("PATCH", SETTINGS, {"driver": "gemini", "chatModel": "g"}),
        ("PATCH", SETTINGS, {"driver": "openai", "baseUrl": "https://elsewhere.example.org"}),
        ("POST", TEST, chat),
    ):
        answers.append(await client.request(method, path, json=body, headers=owner.headers))
        refused = await client.request(method, path, json=body, headers=writer.headers)
        assert refused.status_code in (403, 422)
        answers.append(refused)
    for path in READ:
        for who in (owner, writer):
            answers.append(await client.get(path, headers=who.headers))
    return answers


@pytest.mark.req("PV-01")
async def test_no_part_of_a_key_is_in_any_answer_log_message_or_store(
    owner: Admin,
    writer: Admin,
    stub: LlmStub,
    worker: Worker,
    world: World,
    database: Database,
    redis: "Redis",
    capfd: pytest.CaptureFixture[str],
) -> None:
    answers = await use_everything(owner, writer, stub, world)
    assert stub.chats[0].headers["authorization"] == f"Bearer {CHAT_KEY}"
    assert len(stub.chats) >= 3
    async with database.session() as session:
        rows = list(await session.scalars(select(ProviderCredential)))
        dump = await session.execute(text("SELECT t::text FROM ai_provider_credentials t"))
        others = [
            await session.execute(text(f"SELECT t::text FROM {table} t"))
            for table in ("ai_settings", "ai_generations", "rpc_requests", "ai_models")
        ]
    sealed = [row.api_key_enc or row.embedding_api_key_enc for row in rows]
    assert len(sealed) == 2
    hidden = [spelling for one in sealed if one is not None for spelling in spellings(one)]
    assert (await owner.read())["apiKeyState"] == "other-origin"

    for answer in answers:
        whole = answer.text + str(answer.headers)
        assert leaks(whole) == [], answer.url
        assert not any(spelling in whole for spelling in hidden), answer.url
        assert "ciphertext" not in whole
    for row in dump:
        assert leaks(row[0]) == []
    for rows_of in others:
        for row in rows_of:
            assert leaks(row[0]) == []
            assert not any(spelling in row[0] for spelling in hidden)
    assert worker.messages
    for message in worker.messages:
        assert leaks(message) == []
        assert leaks(base64.b64decode(orjson.loads(message)["body"])) == []
    for name in await redis.keys("*"):
        assert leaks(name + (await redis.dump(name) or b"")) == []
    logs = capfd.readouterr()
    assert "POST" in logs.out + logs.err
    assert leaks(logs.out + logs.err) == []
