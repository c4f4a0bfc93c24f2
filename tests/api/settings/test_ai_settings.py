"""What owners and admins see and change, and what is refused."""

from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import delete, update

from shared.core.db import Database
from shared.core.settings import get_settings
from shared.providers.defaults import DEFAULT_SYSTEM_PROMPT
from shared.providers.models import AiSettings
from shared.wiki.models import PageIndex
from tests.api.settings.admin import SETTINGS, Admin
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient
DEFAULTS = {
    "driver": "offline",
    "baseUrl": None,
    "chatModel": "offline",
    "smallModel": None,
    "hasApiKey": False,
    "apiKeyState": "none",
    "embeddingDriver": "local",
    "embeddingBaseUrl": None,
    "embeddingModel": "all-MiniLM-L6-v2",
    "hasEmbeddingApiKey": False,
    "embeddingApiKeyState": "none",
    "systemPrompt": "",
    "defaultSystemPrompt": DEFAULT_SYSTEM_PROMPT,
    "chatContextWindow": None,
    "chatTokenCeiling": None,
    "showModelSelector": True,
    "onDisconnect": "continue",
    "disconnectGraceSeconds": 60,
    "chat": True,
    "search": True,
    "mcp": False,
    "version": 1,
    "indexedPages": 0,
    "totalPages": 0,
    "reindexing": False,
    "ready": True,
    "missing": [],
}


def known(body: dict[str, Any]) -> dict[str, Any]:
    """Without the lists of drivers."""
    return {name: body[name] for name in DEFAULTS}


async def test_the_settings_of_a_new_workspace(owner: Admin) -> None:
    body = await owner.read()
    assert set(body) == set(DEFAULTS) | {"drivers", "embeddingDrivers"}
    assert known(body) == DEFAULTS
    drivers = {item["driver"]: item for item in body["drivers"]}
    assert list(drivers) == [
        "offline",
        "openai",
        "anthropic",
        "gemini",
        "ollama",
        "openai-compatible",
    ]
    assert [item["driver"] for item in body["embeddingDrivers"]] == [
        "local",
        "openai-compatible",
        "ollama",
    ]
    assert drivers["openai"] == {
        "driver": "openai",
        "needsKey": True,
        "keyAllowed": True,
        "needsBaseUrl": False,
        "baseUrlAllowed": True,
        "defaultBaseUrl": "https://api.openai.com/v1",
        "baseUrl": None,
        "hasApiKey": False,
        "apiKeyState": "none",
    }
    assert not drivers["ollama"]["needsKey"]
    assert drivers["ollama"]["needsBaseUrl"]


@pytest.mark.req("PV-12")
async def test_only_owners_and_admins_see_and_change_the_settings_try_them_and_keep_the_catalogue(
    client: Client, world: World
) -> None:
    model = {"driver": "openai", "model": "m"}
    asked: tuple[tuple[str, str, dict[str, Any] | None, int], ...] = (
        ("GET", SETTINGS, None, 200),
        ("PATCH", SETTINGS, {"systemPrompt": "Be brief."}, 200),
        ("POST", f"{SETTINGS}/test", {"capability": "chat", "driver": "openai"}, 200),
        ("GET", "/v1/workspace/ai-models", None, 200),
        ("PUT", "/v1/workspace/ai-models", model, 200),
        ("DELETE", "/v1/workspace/ai-models?driver=openai&model=m", None, 204),
    )
    for method, path, body, status in asked:
        for name in ("writer", "reader", "outsider"):
            answer = await client.request(method, path, json=body, headers=world.headers(name))
            assert (answer.status_code, answer.json()["error"]) == (403, "settings_forbidden")
        assert (await client.request(method, path, json=body)).status_code == 401
        answer = await client.request(method, path, json=body, headers=world.headers("admin"))
        assert answer.status_code == status, answer.text
    for name in ("owner", "other"):
        assert (await client.get(SETTINGS, headers=world.headers(name))).status_code == 200


async def test_a_change_raises_the_version_once_and_stays_in_its_workspace(
    client: Client, world: World, owner: Admin
) -> None:
    change = {"systemPrompt": "Be brief.", "chat": False, "mcp": True, "chatTokenCeiling": 9}
    expected = DEFAULTS | change | {"version": 2}
    for _ in range(2):
        assert known(await owner.change(**change)) == expected
    assert known(await owner.read()) == expected
    assert known(await Admin(client, world.headers("other")).read()) == DEFAULTS


async def test_null_empties_what_may_be_empty_and_leaves_the_rest(owner: Admin) -> None:
    await owner.change(
        driver="openai",
        chatModel="gpt-4o",
        smallModel="gpt-4o-mini",
        chatContextWindow=9_000,
        chatTokenCeiling=5_000,
        baseUrl="https://gateway.example.org",
    )
    kept = await owner.change(driver=None, chatModel=None, systemPrompt=None, apiKey=None)
    assert kept["version"] == 2
    emptied = await owner.change(
        smallModel=None, chatContextWindow=None, chatTokenCeiling=None, baseUrl=None
    )
    assert emptied["chatModel"] == "gpt-4o"
    for name in ("smallModel", "chatContextWindow", "chatTokenCeiling", "baseUrl"):
        assert emptied[name] is None


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"driver": "bard"}, "unknown_driver", "driver"),
        ({"embeddingDriver": "remote"}, "unknown_driver", "embeddingDriver"),
        ({"chatModel": "gpt-1"}, "unknown_model", "chatModel"),
        ({"smallModel": "gpt-1"}, "unknown_model", "smallModel"),
        ({"embeddingModel": "something"}, "unknown_model", "embeddingModel"),
        ({"systemPrompt": "x" * 20_001}, "invalid_input", "systemPrompt"),
        ({"systemPrompt": "a\u0000b"}, "invalid_input", "systemPrompt"),
        ({"chat": "perhaps"}, "invalid_input", "chat"),
        ({"chatContextWindow": 0}, "invalid_input", "chatContextWindow"),
        ({"chatTokenCeiling": -1}, "invalid_input", "chatTokenCeiling"),
        ({"apiKey": "secret-value"}, "invalid_input", "apiKey"),
        ({"driver": "openai", "apiKey": "secret-value two"}, "invalid_input", "apiKey"),
        ({"driver": "openai", "apiKey": "secret-value\u00e9"}, "invalid_input", "apiKey"),
        ({"driver": "openai", "apiKey": "secret-value" * 400}, "invalid_input", "apiKey"),
        ({"driver": "ollama", "apiKey": "secret-value"}, "invalid_input", "baseUrl"),
        ({"baseUrl": "https://example.org"}, "invalid_input", "baseUrl"),
        ({"embeddingBaseUrl": "https://example.org"}, "invalid_input", "embeddingBaseUrl"),
        ({"driver": "openai", "baseUrl": "ftp://secret-value"}, "bad_base_url", "baseUrl"),
        (
            {"embeddingDriver": "ollama", "embeddingBaseUrl": "http://u:secret-value@h"},
            "bad_base_url",
            "embeddingBaseUrl",
        ),
    ],
)
async def test_what_cannot_be_chosen_is_refused_by_field_and_without_repeating_it(
    owner: Admin, body: dict[str, Any], code: str, field: str
) -> None:
    refusal = await owner.refused(**body)
    assert refusal["error"] == code
    assert [fault["path"] for fault in refusal["details"]] == [field]
    assert "secret-value" not in str(refusal)
    assert known(await owner.read()) == DEFAULTS


@pytest.mark.parametrize("private", [True, False])
async def test_an_address_within_is_taken_only_where_private_models_are_allowed(
    owner: Admin, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    monkeypatch.setattr(get_settings(), "private_models", private)
    for url in ("http://127.0.0.1:11434", "http://10.0.0.5/v1", "http://[::1]:8080/v1"):
        if private:
            assert (await owner.change(driver="ollama", baseUrl=url))["baseUrl"] == url
        else:
            assert (await owner.refused(driver="ollama", baseUrl=url))["error"] == "bad_base_url"
    for url in ("http://169.254.169.254/latest", "http://[fe80::1]/", "http://0x7f.1/.."):
        assert (await owner.refused(driver="ollama", baseUrl=url))["error"] == "bad_base_url"


async def test_a_workspace_without_a_row_has_the_defaults(owner: Admin, database: Database) -> None:
    async with database.session() as session:
        await session.execute(delete(AiSettings))
    assert known(await owner.read()) == DEFAULTS


async def test_the_progress_counts_living_pages_that_are_indexed_as_they_are(
    client: Client, world: World, owner: Admin, database: Database
) -> None:
    make_page = MakePage(client, world)
    pages = [await make_page(f"Page {number}") for number in range(4)]
    await make_page("Elsewhere", by="other", space="OTHER")
    async with database.session() as session:
        indexed = {"indexed_version": 1, "state": "indexed", "model_name": "all-MiniLM-L6-v2"}
        await session.execute(update(PageIndex).values(indexed))
        await session.execute(
            update(PageIndex).where(PageIndex.page_id == UUID(pages[3]["id"])).values(state="error")
        )
    headers = world.headers("writer")
    await client.delete(f"/v1/pages/{pages[1]['id']}", headers=headers)
    done = await owner.read()
    assert (done["indexedPages"], done["totalPages"], done["reindexing"]) == (2, 3, False)
    await client.patch(f"/v1/pages/{pages[0]['id']}", json={"title": "New"}, headers=headers)
    lagging = await owner.read()
    assert (lagging["indexedPages"], lagging["totalPages"], lagging["reindexing"]) == (1, 3, True)
