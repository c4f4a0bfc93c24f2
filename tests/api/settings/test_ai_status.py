"""What everybody may know of the model: whether there is one, and whether it answers."""

from typing import Any

import pytest

from shared.chat.models import Generation
from shared.core.db import Database
from tests.api.settings.admin import Admin
from tests.factories.world import World

STATUS = "/v1/workspace/ai-status"


async def called(database: Database, world: World, version: int, **row: Any) -> None:
    """A call of the model as it is accounted for."""
    values: dict[str, Any] = {
        "object": "chat",
        "type": "chat",
        "status": "success",
        "driver": "openai",
        "model": "gpt-4o",
        **row,
    }
    async with database.session() as session:
        session.add(Generation(workspace_id=world.workspace_id, settings_version=version, **values))


@pytest.mark.req("PV-13")
async def test_a_workspace_without_a_working_model_says_what_is_missing_to_those_who_can_mend_it(
    owner: Admin, writer: Admin
) -> None:
    assert await writer.get(STATUS) == {
        "configured": True,
        "chat": True,
        "driver": "offline",
        "model": "offline",
        "reachable": None,
        "reason": None,
        "code": None,
        "canConfigure": False,
    }
    await owner.change(driver="openai", chat=False)
    told = await owner.get(STATUS)
    assert told == {
        "configured": False,
        "chat": False,
        "driver": "openai",
        "model": "",
        "reachable": None,
        "reason": "openai still needs a key and a model.",
        "code": "not_configured",
        "canConfigure": True,
    }
    general = await writer.get(STATUS)
    assert (general["configured"], general["canConfigure"]) == (False, False)
    assert "owner or admin" in general["reason"]
    assert "key" not in general["reason"]


async def test_reachable_is_what_the_last_call_under_these_settings_says(
    owner: Admin, writer: Admin, database: Database, world: World
) -> None:
    saved = await owner.change(driver="openai", chatModel="gpt-4o", apiKey="sk-1234567890")
    version = saved["version"]
    await called(database, world, version - 1)
    assert (await owner.get(STATUS))["reachable"] is None
    await called(database, world, version)
    assert (await owner.get(STATUS))["reachable"] is True
    await called(database, world, version, status="error", error_code="provider_auth")
    told = await owner.get(STATUS)
    assert (told["reachable"], told["code"]) == (False, "provider_auth")
    assert told["reason"] == "The provider refuses the key."
    general = await writer.get(STATUS)
    assert (general["reachable"], general["code"]) == (False, None)
    assert "provider" not in general["reason"]
    await called(database, world, version, type="test")
    assert (await owner.get(STATUS))["reachable"] is True


@pytest.mark.parametrize(
    "row",
    [
        {"status": "error", "error_code": "context_too_long"},
        {"status": "error", "error_code": "internal"},
        {"status": "error"},
        {"status": "pending"},
        {"type": "title", "status": "error", "error_code": "provider_error"},
        {
            "object": "search",
            "type": "test",
            "status": "error",
            "error_code": "provider_network",
        },
    ],
)
async def test_calls_that_say_nothing_of_the_chat_models_provider_do_not_count(
    owner: Admin, database: Database, world: World, row: dict[str, Any]
) -> None:
    await called(database, world, 1)
    await called(database, world, 1, **row)
    assert (await owner.get(STATUS))["reachable"] is True
    assert (await owner.get(STATUS))["reason"] is None


async def test_only_those_who_are_signed_in_are_told(owner: Admin) -> None:
    assert (await owner.client.get(STATUS)).status_code == 401
    assert (await owner.client.get("/v1/ai/models")).status_code == 401
