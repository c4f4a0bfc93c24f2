"""What is switched off is closed; what lacks something says what."""

from typing import Any

import httpx2
import pytest

from tests.api.settings.admin import Admin
from tests.api.settings.conftest import Worker
from tests.factories.pages import MakePage
from tests.factories.world import World
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage

SEND = "/v1/ai/chat/tenant"


def asking(**more: Any) -> dict[str, Any]:
    part = {"type": "text", "text": "Where is the leave policy?"}
    return {"id": "chat-1", "messages": [{"id": "m1", "role": "user", "parts": [part]}], **more}


async def ask(admin: Admin, **more: Any) -> tuple[int, dict[str, Any]]:
    answer = await admin.client.post(SEND, json=asking(**more), headers=admin.headers)
    return answer.status_code, answer.json()


@pytest.mark.req("PV-09")
async def test_chat_switched_off_refuses_every_way_of_asking_and_leaves_ones_chats_readable(
    owner: Admin, writer: Admin
) -> None:
    status = await owner.get("/v1/workspace/ai-status")
    assert status["chat"]
    await owner.change(chat=False)
    for more in (
        {},
        {"trigger": "regenerate-message", "messageId": "m2"},
        {"continue": True, "messages": []},
        {"model": "offline"},
    ):
        for person in (owner, writer):
            code, body = await ask(person, **more)
            assert (code, body["error"]) == (403, "chat_disabled")
    assert (await writer.get("/v1/ai/chats"))["items"] == []
    assert not (await writer.get("/v1/workspace/ai-status"))["chat"]
    await owner.change(chat=True)
    assert (await writer.get("/v1/workspace/ai-status"))["chat"]


@pytest.mark.req("PV-09")
async def test_search_switched_off_refuses_searches_of_everybody_here_and_nowhere_else(
    owner: Admin, writer: Admin, client: httpx2.AsyncClient, world: World
) -> None:
    await MakePage(client, world)("Leave")
    await owner.change(search=False)
    for person in (owner, writer):
        for words in ("leave", ""):
            answer = await client.get("/v1/search", params={"q": words}, headers=person.headers)
            assert (answer.status_code, answer.json()["error"]) == (403, "search_disabled")
    answer = await client.get("/v1/search?q=leave", headers=world.headers("other"))
    assert answer.status_code == 200
    await owner.change(search=True)
    found = await writer.get("/v1/search?q=leave")
    assert [item["title"] for item in found["items"]] == ["Leave"]


async def test_with_search_switched_off_the_agent_finds_pages_by_words_alone(
    owner: Admin, client: httpx2.AsyncClient, world: World, worker: Worker
) -> None:
    await MakePage(client, world)("Leave")
    stage, modes = Stage(worker.runtime), []
    for search in (True, False):
        await owner.change(search=search)
        model = ScriptedModel([call(("searchPages", {"query": "leave"})), say("Found it.")])
        turn_id = await stage.ask(world.actor("writer"), "Where is leave?", model)
        found = (await stage.answer(turn_id)).parts[1]["output"]
        assert [hit["title"] for hit in found["hits"]] == ["Leave"]
        modes.append(found["mode"])
    assert modes == ["hybrid", "text"]


@pytest.mark.req("PV-04")
@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"driver": "openai", "chatModel": "m"}, ["apiKey"]),
        ({"driver": "gemini"}, ["apiKey", "chatModel"]),
        ({"driver": "ollama", "chatModel": "m"}, ["baseUrl"]),
        ({"driver": "openai-compatible", "chatModel": "m"}, ["baseUrl"]),
    ],
)
async def test_chat_says_what_its_driver_lacks(
    owner: Admin, writer: Admin, values: dict[str, Any], missing: list[str]
) -> None:
    saved = await owner.change(**values)
    assert (saved["ready"], saved["missing"]) == (False, missing)
    for person in (owner, writer):
        code, body = await ask(person)
        assert (code, body["error"]) == (503, "not_configured")
        assert body["details"] == {"missing": missing}
        assert values["driver"] in body["message"]
    assert (await writer.get("/v1/ai/chats"))["items"] == []


@pytest.mark.req("PV-04")
async def test_ollama_is_ready_without_a_key(owner: Admin) -> None:
    saved = await owner.change(
        driver="ollama", chatModel="llama3", baseUrl="http://127.0.0.1:11434/v1"
    )
    assert (saved["ready"], saved["hasApiKey"]) == (True, False)


async def test_keys_of_the_environment_configure_nothing(
    owner: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AI_API_KEY"):
        monkeypatch.setenv(name, "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for driver in ("openai", "anthropic", "gemini"):
        saved = await owner.change(driver=driver, chatModel="m")
        assert (saved["hasApiKey"], saved["missing"]) == (False, ["apiKey"])
        assert (await ask(owner))[0] == 503
    assert (await owner.change(driver="openai", apiKey="sk-entered-here"))["ready"]


@pytest.mark.req("PV-10")
async def test_a_model_that_is_not_offered_is_refused_before_anything_is_stored(
    owner: Admin, writer: Admin
) -> None:
    await owner.change(driver="openai", chatModel="gpt-4o", apiKey="sk-entered-here")
    for model in ("gpt-9", "claude-sonnet-4-5", "offline"):
        code, body = await ask(writer, model=model)
        assert (code, body["error"]) == (400, "unknown_model")
    assert (await writer.get("/v1/ai/chats"))["items"] == []
