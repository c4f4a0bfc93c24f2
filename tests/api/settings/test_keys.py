"""A provider's key: written, replaced, cleared, kept for its driver and for its address."""

from typing import Any

import httpx2
import pytest

from tests.api.settings.admin import Admin
from tests.api.settings.conftest import Worker
from tests.factories.world import World
from tests.fakes.llm_script import says
from tests.fakes.llm_stub import LlmStub

FIRST = "sk-first-Ab3dEfGh1jKl"
SECOND = "sk-second-Mn0pQrStUvWx"


def driver(body: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in body["drivers"] if item["driver"] == name)
    return found


@pytest.mark.req("PV-02")
async def test_a_key_is_kept_when_absent_replaced_by_a_value_and_cleared_by_an_empty_text(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    stub.fallback = says("ready")
    await owner.change(driver="openai-compatible", baseUrl=stub.url, chatModel="m", apiKey=FIRST)
    await owner.change(systemPrompt="Be brief.")
    assert (await owner.test())["ok"]
    replaced = await owner.change(apiKey=SECOND)
    assert replaced["hasApiKey"]
    assert (await owner.test())["ok"]
    cleared = await owner.change(apiKey="")
    assert (cleared["hasApiKey"], cleared["apiKeyState"]) == (False, "none")
    assert (await owner.test())["ok"]
    assert [request.headers.get("authorization") for request in stub.chats] == [
        f"Bearer {FIRST}",
        f"Bearer {SECOND}",
        None,
    ]


async def test_the_version_rises_with_a_new_key_and_not_with_the_same(owner: Admin) -> None:
    first = await owner.change(driver="openai", chatModel="m", apiKey=f" {FIRST}\n")
    assert (await owner.change(apiKey=FIRST))["version"] == first["version"]
    second = await owner.change(apiKey=SECOND)
    assert second["version"] == first["version"] + 1
    assert (await owner.change(apiKey=""))["version"] == second["version"] + 1
    assert (await owner.change(apiKey=""))["version"] == second["version"] + 1


@pytest.mark.req("PV-08")
async def test_switching_the_driver_and_back_keeps_each_ones_key_and_address(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    stub.fallback = says("ready")
    await owner.change(driver="openai", chatModel="m", baseUrl=stub.url, apiKey=FIRST)
    switched = await owner.change(driver="gemini", apiKey=SECOND)
    assert (switched["baseUrl"], switched["hasApiKey"]) == (None, True)
    back = await owner.change(driver="openai")
    assert (back["baseUrl"], back["hasApiKey"], back["chatModel"]) == (stub.url, True, "m")
    assert driver(back, "gemini")["hasApiKey"]
    assert (await owner.test())["ok"]
    assert stub.chats[0].headers["authorization"] == f"Bearer {FIRST}"


async def test_a_key_goes_to_no_other_address_than_its_own(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    async with LlmStub() as other:
        await owner.change(driver="openai", chatModel="m", baseUrl=stub.url, apiKey=FIRST)
        moved = await owner.change(baseUrl=other.url)
        assert (moved["apiKeyState"], moved["hasApiKey"], moved["ready"]) == (
            "other-origin",
            False,
            False,
        )
        assert moved["missing"] == ["apiKey"]
        failed = await owner.test()
        assert (failed["ok"], failed["error"]["code"]) == (False, "not_configured")
        assert "enter the key again" in failed["error"]["message"]
        unsaved = await owner.test(baseUrl="https://api.openai.com/v1")
        assert unsaved["error"]["code"] == "not_configured"
        assert (other.requests, stub.requests, worker.messages) == ([], [], [])
    back = await owner.change(baseUrl=stub.url)
    assert (back["apiKeyState"], back["ready"]) == ("set", True)


async def test_a_key_and_an_address_in_one_change_belong_together(owner: Admin) -> None:
    await owner.change(driver="openai", chatModel="m", apiKey=FIRST)
    both = await owner.change(baseUrl="https://gateway.example.org/v1/", apiKey=SECOND)
    assert (both["baseUrl"], both["apiKeyState"]) == ("https://gateway.example.org/v1", "set")
    assert (await owner.change(baseUrl=""))["apiKeyState"] == "other-origin"


async def test_embeddings_have_an_address_and_a_key_of_their_own(
    owner: Admin, stub: LlmStub, worker: Worker
) -> None:
    saved = await owner.change(
        driver="ollama",
        chatModel="m",
        baseUrl="http://chat.example.org/v1",
        embeddingDriver="ollama",
        embeddingModel="e",
        embeddingBaseUrl=stub.url,
        embeddingApiKey=SECOND,
    )
    assert (saved["hasApiKey"], saved["hasEmbeddingApiKey"]) == (False, True)
    assert (await owner.test("embeddings"))["ok"]
    assert stub.embeddings[0].headers["authorization"] == f"Bearer {SECOND}"


async def test_two_workspaces_use_their_own_keys(
    owner: Admin, client: httpx2.AsyncClient, world: World, stub: LlmStub, worker: Worker
) -> None:
    stub.fallback = says("ready")
    other = Admin(client, world.headers("other"))
    for admin, key in ((owner, FIRST), (other, SECOND)):
        await admin.change(driver="openai", chatModel="m", baseUrl=stub.url, apiKey=key)
    for admin in (owner, other):
        assert (await admin.test())["ok"]
    assert [request.headers["authorization"] for request in stub.chats] == [
        f"Bearer {FIRST}",
        f"Bearer {SECOND}",
    ]
