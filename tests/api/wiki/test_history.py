"""A page's history: who saved each version, by which hand, and what it held."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import delete, event, func, update
from sqlalchemy.engine import Engine

from shared.accounts.models import User
from shared.chat.models import Chat
from shared.core.db import Database
from shared.wiki import service
from tests.factories.agents import agent_of
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient
NOBODYS = {"id": None, "mine": False}


@pytest.fixture
async def page(make_page: MakePage, database: Database, world: World) -> dict[str, Any]:
    """A page by the owner (1), saved by the writer (2) and by the writer's agent (3)."""
    page = await make_page("Leave", markdown="One.", by="owner")
    agent = await agent_of(database, world.actor("writer"))
    page_id = UUID(page["id"])
    async with database.session() as session:
        await service.update_page(session, world.actor("writer"), page_id, markdown="Two.")
        await service.update_page(session, agent, page_id, title="Annual leave", markdown="Three.")
    return page | {"chatId": str(agent.chat_id)}


async def listed(client: Client, world: World, page: dict[str, Any], who: str) -> list[Any]:
    answer = await client.get(f"/v1/pages/{page['slugId']}/history", headers=world.headers(who))
    assert answer.status_code == 200, answer.text
    items: list[Any] = answer.json()["items"]
    return items


async def test_the_author_stays_the_person_when_the_agent_wrote(
    client: Client, world: World, page: dict[str, Any]
) -> None:
    items = await listed(client, world, page, "writer")
    writer = {"id": str(world.users["writer"]), "name": "Writer"}
    assert [
        (item["version"], item["title"], item["author"], item["lastUpdatedSource"], item["aiChat"])
        for item in items
    ] == [
        (3, "Annual leave", writer, "agent", {"id": page["chatId"], "mine": True}),
        (2, "Leave", writer, "user", None),
        (1, "Leave", {"id": str(world.users["owner"]), "name": "Owner"}, "user", None),
    ]
    assert all(set(item) == set(items[0]) and item["createdAt"] for item in items)


async def test_only_a_chats_creator_is_told_which_chat_it_was(
    client: Client, world: World, page: dict[str, Any]
) -> None:
    for who in ("owner", "reader"):
        assert (await listed(client, world, page, who))[0]["aiChat"] == NOBODYS
        one = await client.get(f"/v1/pages/{page['id']}/history/3", headers=world.headers(who))
        assert one.json()["aiChat"] == NOBODYS
        assert page["chatId"] not in one.text


async def test_a_chat_that_is_gone_is_not_named_and_the_mark_stays(
    client: Client, world: World, page: dict[str, Any], database: Database
) -> None:
    chat = Chat.id == UUID(page["chatId"])
    for change in (
        update(Chat).where(chat).values(deleted_at=func.now()),
        delete(Chat).where(chat),
    ):
        async with database.session() as session:
            await session.execute(change)
        newest = (await listed(client, world, page, "writer"))[0]
        assert (newest["lastUpdatedSource"], newest["aiChat"]) == ("agent", NOBODYS)


async def test_a_version_of_somebody_who_is_gone_has_no_author(
    client: Client, world: World, page: dict[str, Any], database: Database
) -> None:
    async with database.session() as session:
        await session.execute(delete(User).where(User.id == world.users["writer"]))
    items = await listed(client, world, page, "reader")
    assert [item["author"] and item["author"]["name"] for item in items] == [None, None, "Owner"]
    read = await client.get(f"/v1/pages/{page['id']}", headers=world.headers("reader"))
    assert read.json()["lastUpdatedBy"] is None


async def test_a_version_has_its_content_both_ways_as_it_was_then(
    client: Client, world: World, page: dict[str, Any]
) -> None:
    path, headers = f"/v1/pages/{page['id']}/history", world.headers("reader")
    first, second, third = [
        (await client.get(f"{path}/{number}", headers=headers)).json() for number in (1, 2, 3)
    ]
    texts = [version["markdown"].strip() for version in (first, second, third)]
    assert texts == ["One.", "Two.", "Three."]
    assert first["content"] == page["content"]
    assert (first["title"], third["title"]) == ("Leave", "Annual leave")
    newest = {key: third[key] for key in third if key not in ("content", "markdown")}
    assert [newest] == (await listed(client, world, page, "reader"))[:1]
    now = await client.get(f"/v1/pages/{page['id']}", headers=headers)
    assert third["content"] == now.json()["content"]


@pytest.mark.parametrize(
    ("number", "status"),
    [("4", 404), (str(2**31 - 1), 404), ("0", 400), ("-1", 400), (str(2**31), 400), ("x", 400)],
)
async def test_a_version_that_is_not_there_is_a_clear_error(
    client: Client, world: World, page: dict[str, Any], number: str, status: int
) -> None:
    answer = await client.get(
        f"/v1/pages/{page['id']}/history/{number}", headers=world.headers("writer")
    )
    assert answer.status_code == status
    assert answer.json()["error"] == ("version_not_found" if status == 404 else "invalid_input")


async def test_another_pages_version_is_not_this_pages(
    client: Client, world: World, page: dict[str, Any], make_page: MakePage
) -> None:
    other = await make_page("Other")
    answer = await client.get(f"/v1/pages/{other['id']}/history/2", headers=world.headers("writer"))
    assert answer.status_code == 404


async def test_history_comes_in_pages(client: Client, world: World, make_page: MakePage) -> None:
    page = await make_page()
    path, headers = f"/v1/pages/{page['id']}", world.headers("writer")
    for number in range(2, 6):
        await client.patch(path, json={"title": f"Title {number}"}, headers=headers)
    first = (await client.get(f"{path}/history?limit=3", headers=headers)).json()
    rest = (
        await client.get(f"{path}/history", params={"cursor": first["nextCursor"]}, headers=headers)
    ).json()
    assert [item["version"] for item in first["items"] + rest["items"]] == [5, 4, 3, 2, 1]
    assert rest["nextCursor"] is None
    for cursor in ("WyJ4Il0=", "WyItMSJd", "WyI5OTk5OTk5OTk5OTk5OTkiXQ=="):
        answer = await client.get(f"{path}/history", params={"cursor": cursor}, headers=headers)
        assert answer.status_code == 400


@pytest.fixture
async def statements(app: FastAPI) -> AsyncIterator[list[str]]:
    """The SQL that the application has sent."""
    engine: Engine = app.state.database.engine.sync_engine
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


async def test_a_long_history_takes_no_more_queries_than_a_short_one(
    client: Client,
    world: World,
    page: dict[str, Any],
    database: Database,
    statements: list[str],
) -> None:
    async def asked() -> int:
        statements.clear()
        await listed(client, world, page, "writer")
        return len(statements)

    short = await asked()
    for number in range(4, 14):
        agent = await agent_of(database, world.actor("writer" if number % 2 else "owner"))
        async with database.session() as session:
            await service.update_page(session, agent, UUID(page["id"]), markdown=f"Text {number}.")
    assert await asked() == short
