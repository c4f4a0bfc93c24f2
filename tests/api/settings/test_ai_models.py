"""The catalogue of models, and what of it people may choose."""

from typing import Any

import httpx2
import pytest

from tests.api.settings.admin import Admin
from tests.factories.world import World

MODELS = "/v1/workspace/ai-models"
CHOICES = "/v1/ai/models"


async def put(owner: Admin, **item: Any) -> httpx2.Response:
    return await owner.client.put(MODELS, json=item, headers=owner.headers)


async def listed(owner: Admin) -> dict[tuple[str, str], dict[str, Any]]:
    items = (await owner.get(MODELS))["items"]
    return {(item["driver"], item["model"]): item for item in items}


@pytest.mark.req("PV-11", "BK-11")
async def test_the_catalogue_begins_with_known_models_and_their_prices(owner: Admin) -> None:
    found = await listed(owner)
    openai = {model: item for (driver, model), item in found.items() if driver == "openai"}
    assert {model: item["inputPrice"] for model, item in openai.items()} == {
        "gpt-4o": 0.25,
        "gpt-4o-mini": 0.015,
        "o1": 1.5,
        "o1-mini": 0.3,
        "o1-pro": 15.0,
        "o3-mini": 1.1,
    }
    assert all(item["outputPrice"] == item["inputPrice"] for item in openai.values())
    assert openai["o1"]["contextWindow"] == 200_000
    claude = found["anthropic", "claude-sonnet-4-5"]
    assert (claude["inputPrice"], claude["contextWindow"], claude["allowed"]) == (
        None,
        200_000,
        True,
    )
    await owner.change(driver="anthropic", apiKey="sk-ant-1234567890", chatModel="claude-opus-4-1")
    assert "claude-sonnet-4-5" in [item["model"] for item in (await owner.get(CHOICES))["items"]]


async def test_a_model_is_added_described_anew_and_taken_out(owner: Admin) -> None:
    item = {
        "driver": "ollama",
        "model": "llama3:8b",
        "inputPrice": 0,
        "outputPrice": 0.000001,
        "contextWindow": 8_192,
        "allowed": False,
    }
    answer = await put(owner, **item)
    assert (answer.status_code, answer.json()) == (200, item)
    answer = await put(owner, driver="ollama", model=" llama3:8b ", inputPrice=2)
    described = {
        **item,
        "inputPrice": 2,
        "outputPrice": None,
        "contextWindow": None,
        "allowed": True,
    }
    assert answer.json() == described
    assert (await listed(owner))["ollama", "llama3:8b"] == described
    where = {"driver": "ollama", "model": "llama3:8b"}
    for status in (204, 404):
        answer = await owner.client.delete(MODELS, params=where, headers=owner.headers)
        assert answer.status_code == status
    assert ("ollama", "llama3:8b") not in await listed(owner)


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"driver": "bard", "model": "m"}, "unknown_driver"),
        ({"driver": "openai", "model": " "}, "invalid_input"),
        ({"driver": "openai", "model": "m", "inputPrice": -1}, "invalid_input"),
        ({"driver": "openai", "model": "m", "outputPrice": 1e12}, "invalid_input"),
        ({"driver": "openai", "model": "m", "inputPrice": "NaN"}, "invalid_input"),
        ({"driver": "openai", "model": "m", "contextWindow": 999}, "invalid_input"),
        ({"driver": "openai", "model": "m", "contextWindow": True}, "invalid_input"),
        ({"driver": "openai", "model": "m\n2"}, "invalid_input"),
        ({"driver": "openai", "model": "m", "contextWindow": 2**31}, "invalid_input"),
    ],
)
async def test_a_model_that_cannot_be_is_refused(
    owner: Admin, item: dict[str, Any], code: str
) -> None:
    answer = await put(owner, **item)
    assert (answer.status_code, answer.json()["error"]) == (422, code)


@pytest.mark.req("PV-10")
async def test_people_choose_among_the_default_and_what_is_allowed_of_the_driver(
    owner: Admin, writer: Admin
) -> None:
    assert await writer.get(CHOICES) == {
        "items": [{"model": "offline", "isDefault": True}],
        "showModelSelector": True,
    }
    await owner.change(driver="openai", chatModel="o3-mini", showModelSelector=False)
    await put(owner, driver="openai", model="o1-pro", allowed=False)
    await put(owner, driver="openai", model="gpt-mine")
    choices = await writer.get(CHOICES)
    assert choices["items"][0] == {"model": "o3-mini", "isDefault": True}
    assert [item["model"] for item in choices["items"][1:]] == [
        "gpt-4o",
        "gpt-4o-mini",
        "gpt-mine",
        "o1",
        "o1-mini",
    ]
    assert not any(item["isDefault"] for item in choices["items"][1:])
    assert not choices["showModelSelector"]


async def test_each_workspace_has_its_own_catalogue(
    owner: Admin, client: httpx2.AsyncClient, world: World
) -> None:
    await put(owner, driver="openai", model="gpt-mine")
    other = Admin(client, world.headers("other"))
    assert ("openai", "gpt-mine") not in await listed(other)
    assert len(await listed(owner)) == len(await listed(other)) + 1
