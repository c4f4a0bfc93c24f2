"""The settings page's test button: one call by a worker, and what it comes to."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from shared.chat.models import Generation
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.core.tunables import PROVIDER_TEST_TOKENS
from tests.api.settings.admin import TEST, Admin
from tests.api.settings.conftest import Worker
from tests.fakes.llm_script import (
    DONE,
    Gate,
    error,
    finish,
    html,
    reasoning,
    says,
    stream,
    text,
    usage,
)
from tests.fakes.llm_stub import LlmStub

KEY = "sk-canary-Ab3dEfGh1jKlMn0p"


async def accounted(database: Database) -> list[Generation]:
    async with database.session() as session:
        return list(await session.scalars(select(Generation).order_by(Generation.id)))


def form(stub: LlmStub, **more: Any) -> dict[str, Any]:
    """A form that nobody has saved."""
    return {
        "driver": "openai",
        "baseUrl": stub.url,
        "apiKey": KEY,
        "chatModel": "gpt-4o",
        **more,
    }


@pytest.mark.req("PV-03", "MN-05")
async def test_each_capability_calls_its_own_address_with_what_stands_in_the_form(
    owner: Admin, stub: LlmStub, worker: Worker, database: Database
) -> None:
    stub.plays(says("ready", prompt=1_000_000))
    spoken = await owner.test("chat", **form(stub))
    assert spoken == {"ok": True, "timeMs": spoken["timeMs"]}
    vectors = await owner.test(
        "embeddings",
        embeddingDriver="openai-compatible",
        embeddingBaseUrl=stub.url,
        embeddingApiKey=KEY,
        embeddingModel="small",
    )
    assert vectors == {"ok": True, "timeMs": vectors["timeMs"], "dimensions": stub.dimensions}
    assert [request.path for request in stub.requests] == ["/v1/chat/completions", "/v1/embeddings"]
    assert [request.body["model"] for request in stub.requests] == ["gpt-4o", "small"]
    assert {request.headers["authorization"] for request in stub.requests} == {f"Bearer {KEY}"}
    assert "tools" not in stub.chats[0].body
    chat, embeddings = await accounted(database)
    assert (chat.type, chat.object, chat.driver, chat.model) == ("test", "chat", "openai", "gpt-4o")
    assert (chat.status, chat.input_tokens, chat.output_tokens) == ("success", 1_000_000, 1)
    assert chat.cost_in_cents == Decimal("25.000025")
    assert chat.time_ms is not None
    assert chat.settings_version is None
    assert (embeddings.type, embeddings.object, embeddings.status) == ("test", "search", "success")
    assert (await owner.read())["version"] == 1


@pytest.mark.req("PV-03")
async def test_a_refusal_is_told_with_its_status_and_without_the_key(
    owner: Admin, stub: LlmStub, worker: Worker, database: Database
) -> None:
    echo = f"Incorrect API key provided: {KEY}. Header was: Bearer {KEY}. " + "long " * 500
    stub.plays(error(401, echo), error(404, f"no model for {KEY[3:]}"), html(200, "<p>Hello"))
    stub.plays_embeddings(error(401, echo))
    outcomes = [await owner.test("chat", **form(stub)) for _ in range(3)]
    outcomes.append(
        await owner.test(
            "embeddings",
            embeddingDriver="openai-compatible",
            embeddingBaseUrl=stub.url,
            embeddingApiKey=KEY,
            embeddingModel="small",
        )
    )
    assert [(one["ok"], one["error"]["code"], one["error"].get("status")) for one in outcomes] == [
        (False, "provider_auth", 401),
        (False, "model_not_found", 404),
        (False, "provider_bad_response", outcomes[2]["error"].get("status")),
        (False, "provider_auth", 401),
    ]
    for outcome in outcomes:
        assert 0 < len(outcome["error"]["message"]) <= 300
        assert not any(KEY[at : at + 5] in str(outcome) for at in range(len(KEY) - 4))
    rows = await accounted(database)
    assert [(row.status, row.error_code) for row in rows] == [
        ("error", outcome["error"]["code"]) for outcome in outcomes
    ]


async def test_a_test_of_what_is_saved_says_whether_the_provider_is_reachable(
    owner: Admin, stub: LlmStub, worker: Worker, database: Database
) -> None:
    saved = await owner.change(**form(stub))
    stub.plays(error(402, "no money"), says("ready"))
    assert not (await owner.test("chat"))["ok"]
    status = await owner.get("/v1/workspace/ai-status")
    assert (status["reachable"], status["code"]) == (False, "provider_quota")
    assert (await owner.test("chat", **form(stub)))["ok"]
    assert (await owner.get("/v1/workspace/ai-status"))["reachable"] is True
    versions = {row.settings_version for row in await accounted(database)}
    assert versions == {saved["version"]}


async def test_what_is_missing_is_said_without_calling_anybody(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    for values, wanted in (
        ({"driver": "openai", "chatModel": "m"}, "openai still needs a key."),
        ({"driver": "ollama", "chatModel": "m"}, "ollama still needs a base URL."),
        ({"driver": "openai", "apiKey": KEY}, "openai still needs a model."),
        ({"driver": "openai", "apiKey": KEY, "chatModel": ""}, "openai still needs a model."),
    ):
        outcome = await owner.test("chat", **values)
        assert outcome == {
            "ok": False,
            "timeMs": 0,
            "error": {"code": "not_configured", "message": wanted},
        }
    assert (stub.requests, worker.messages) == ([], [])


async def test_the_drivers_within_are_tested_too(owner: Admin, worker: Worker) -> None:
    assert (await owner.test("chat"))["ok"]
    vectors = await owner.test("embeddings")
    assert (vectors["ok"], vectors.get("dimensions")) == (True, 384)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"capability": "speech"}, "invalid_input"),
        ({"capability": "chat", "driver": "bard"}, "unknown_driver"),
        ({"capability": "chat", "driver": "openai", "baseUrl": "file:///etc"}, "bad_base_url"),
        ({"capability": "chat", "chatModel": "gpt-4o"}, "unknown_model"),
        ({"capability": "chat", "driver": "openai", "apiKey": "a b"}, "invalid_input"),
        ({"capability": "chat", "systemPrompt": "x"}, "invalid_input"),
    ],
)
async def test_a_form_that_cannot_be_is_refused(
    owner: Admin, values: dict[str, Any], code: str
) -> None:
    answer = await owner.client.post(TEST, json=values, headers=owner.headers)
    assert (answer.status_code, answer.json()["error"]) == (422, code)


async def test_without_a_worker_the_test_is_unavailable(
    owner: Admin, stub: LlmStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get_settings(), "test_wait_seconds", 0.2)
    answer = await owner.client.post(
        TEST, json={"capability": "chat", **form(stub)}, headers=owner.headers
    )
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert KEY not in answer.text
    assert stub.requests == []


async def test_a_model_that_thinks_first_has_room_for_it(
    owner: Admin, stub: LlmStub, worker: Worker, database: Database
) -> None:
    stub.plays(stream(reasoning("Let me", " think"), text("ready"), finish(), usage(9, 300), DONE))
    assert (await owner.test("chat", **form(stub)))["ok"]
    assert stub.chats[0].body["max_completion_tokens"] == PROVIDER_TEST_TOKENS > 1_000
    assert [row.output_tokens for row in await accounted(database)] == [300]


async def test_silence_ends_and_is_told_as_such(
    owner: Admin,
    stub: LlmStub,
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(get_settings(), "test_seconds", 0.3)
    gate = Gate()
    stub.plays(stream(gate))
    outcome = await owner.test("chat", **form(stub))
    assert outcome["error"]["code"] == "provider_timeout"
    await stub.until(lambda: stub.chats[0].closed_at)
    gate.open()


async def test_nobody_at_the_address_is_told_as_such(owner: Admin, worker: Worker) -> None:
    async with LlmStub() as stub:
        values = form(stub)
    outcome = await owner.test("chat", **values)
    assert outcome["error"]["code"] == "provider_network"


async def test_a_worker_with_another_secret_says_so(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    from shared.core.secrets import SecretBox

    worker.runtime.secrets = SecretBox(b"another-secret-" + b"0" * 32)
    outcome = await owner.test("chat", **form(stub))
    assert outcome["error"]["code"] == "not_configured"
    assert "APP_SECRET" in outcome["error"]["message"]
    assert stub.requests == []


async def test_the_api_holds_no_database_connection_while_it_waits(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    gate = Gate()
    stub.plays(stream(gate))
    waiting = asyncio.create_task(owner.test("chat", **form(stub)))
    await stub.until(lambda: stub.chats)
    pool = owner.client._transport.app.state.database.engine.pool  # type: ignore[attr-defined]
    assert pool.checkedout() == 0
    gate.open()
    await waiting
