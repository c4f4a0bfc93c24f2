from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import delete, update

from shared.core.db import Database
from shared.providers.models import AiSettings
from shared.wiki.models import PageIndex
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient
PATH = "/v1/workspace/ai-settings"
DEFAULTS = {
    "driver": "offline",
    "chatModel": "offline",
    "embeddingDriver": "local",
    "embeddingModel": "all-MiniLM-L6-v2",
    "systemPrompt": "",
    "chat": True,
    "search": True,
    "version": 1,
    "indexedPages": 0,
    "totalPages": 0,
}


async def test_only_owners_and_admins_see_and_change_the_settings(
    client: Client, world: World
) -> None:
    for name in ("owner", "admin", "other"):
        answer = await client.get(PATH, headers=world.headers(name))
        assert (answer.status_code, answer.json()) == (200, DEFAULTS)
    for name in ("writer", "reader", "outsider"):
        for method, body in (("GET", None), ("PATCH", {"chat": False})):
            answer = await client.request(method, PATH, json=body, headers=world.headers(name))
            assert (answer.status_code, answer.json()["error"]) == (403, "settings_forbidden")
    assert (await client.get(PATH)).status_code == 401


async def test_a_change_raises_the_version_once_and_stays_in_its_workspace(
    client: Client, world: World
) -> None:
    headers = world.headers("admin")
    change = {"systemPrompt": "Be brief.", "chat": False}
    expected = DEFAULTS | change | {"version": 2}
    for _ in range(2):
        answer = await client.patch(PATH, json=change, headers=headers)
        assert (answer.status_code, answer.json()) == (200, expected)
    assert (await client.get(PATH, headers=headers)).json() == expected
    assert (await client.get(PATH, headers=world.headers("other"))).json() == DEFAULTS


@pytest.mark.parametrize(
    "body",
    [
        {"driver": "openai"},
        {"chatModel": "gpt-1"},
        {"embeddingDriver": "remote"},
        {"embeddingModel": "something"},
        {"systemPrompt": "x" * 20_001},
        {"systemPrompt": "a\u0000b"},
        {"chat": "perhaps"},
        {"apiKey": "secret-value"},
    ],
)
async def test_what_cannot_be_chosen_is_refused_without_repeating_it(
    client: Client, world: World, body: dict[str, Any]
) -> None:
    answer = await client.patch(PATH, json=body, headers=world.headers("owner"))
    assert answer.status_code == 422
    assert "secret-value" not in answer.text
    assert (await client.get(PATH, headers=world.headers("owner"))).json() == DEFAULTS


async def test_a_workspace_without_a_row_has_the_defaults(
    client: Client, world: World, database: Database
) -> None:
    async with database.session() as session:
        await session.execute(delete(AiSettings))
    assert (await client.get(PATH, headers=world.headers("owner"))).json() == DEFAULTS


async def test_the_progress_counts_living_pages_that_are_indexed_as_they_are(
    client: Client, world: World, database: Database
) -> None:
    make_page = MakePage(client, world)
    pages = [await make_page(f"Page {number}") for number in range(4)]
    await make_page("Elsewhere", by="other", space="OTHER")
    async with database.session() as session:
        await session.execute(update(PageIndex).values(indexed_version=1, state="indexed"))
        await session.execute(
            update(PageIndex).where(PageIndex.page_id == UUID(pages[3]["id"])).values(state="error")
        )
    headers = world.headers("writer")
    await client.patch(f"/v1/pages/{pages[0]['id']}", json={"title": "New"}, headers=headers)
    await client.delete(f"/v1/pages/{pages[1]['id']}", headers=headers)
    answer = (await client.get(PATH, headers=world.headers("owner"))).json()
    assert (answer["indexedPages"], answer["totalPages"]) == (1, 3)
