import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from redis.asyncio import Redis
from sqlalchemy import func, select

from shared.bus.jobs import drain
from shared.core.db import Database
from shared.wiki import service
from shared.wiki.models import Page, PageHistory, PageIndex
from tests.factories.agents import agent_of
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient


def ids_of(document: dict[str, Any]) -> list[str]:
    return [block["attrs"]["id"] for block in document["content"]]


async def test_a_page_is_made_from_markdown_and_read_both_ways(
    client: Client, world: World, make_page: MakePage
) -> None:
    markdown = "## Rules\n\nAsk **your** supervisor.\n\n- one\n- two\n"
    page = await make_page("  Annual   leave ", markdown=markdown)
    assert page["title"] == "Annual leave"
    assert page["version"] == 1
    assert page["url"] == f"/s/wiki/p/annual-leave-{page['slugId']}"
    assert page["creatorId"] == str(world.users["writer"])
    assert page["lastUpdatedBy"] == {"id": page["creatorId"], "name": "Writer"}
    assert (page["lastUpdatedSource"], page["aiChat"]) == ("user", None)
    assert [block["type"] for block in page["content"]["content"]] == [
        "heading",
        "paragraph",
        "bulletList",
    ]
    assert len(set(ids_of(page["content"]))) == 3
    headers = world.headers("reader")
    for ref in (page["id"], page["slugId"]):
        read = await client.get(f"/v1/pages/{ref}", headers=headers)
        assert read.json() == page
    as_markdown = await client.get(f"/v1/pages/{page['id']}?format=markdown", headers=headers)
    assert as_markdown.json()["markdown"].strip() == markdown.strip()
    assert "content" not in as_markdown.json()
    bad = await client.get(f"/v1/pages/{page['id']}?format=pdf", headers=headers)
    assert bad.status_code == 400


async def test_a_page_is_made_from_a_document_or_from_nothing(make_page: MakePage) -> None:
    document = {
        "type": "doc",
        "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hello"}]}],
    }
    page = await make_page(content=document)
    (block,) = page["content"]["content"]
    assert block["content"] == [{"type": "text", "text": "Hello"}]
    assert block["attrs"]["id"]
    empty = await make_page("Empty")
    assert empty["content"]["type"] == "doc"


async def test_a_save_makes_a_version_and_keeps_the_ids_of_what_stayed(
    client: Client, world: World, make_page: MakePage
) -> None:
    page = await make_page(markdown="First.\n\nSecond.\n\nThird.")
    saved = await client.patch(
        f"/v1/pages/{page['id']}",
        json={"markdown": "New.\n\nFirst.\n\nThird.", "baseVersion": 1},
        headers=world.headers("writer"),
    )
    assert saved.status_code == 200, saved.text
    assert saved.json()["version"] == 2
    before, after = ids_of(page["content"]), ids_of(saved.json()["content"])
    assert after[1:] == [before[0], before[2]]
    assert after[0] not in before[:1]


async def test_a_stale_save_is_refused_and_says_which_version_there_is(
    client: Client, world: World, make_page: MakePage
) -> None:
    page = await make_page(markdown="One.")
    path, headers = f"/v1/pages/{page['id']}", world.headers("writer")
    answers = await asyncio.gather(
        *(
            client.patch(path, json={"markdown": text, "baseVersion": 1}, headers=headers)
            for text in ("Two.", "Three.", "Four.")
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    refused = next(answer for answer in answers if answer.status_code == 409)
    assert refused.json()["error"] == "stale_version"
    assert refused.json()["details"] == {"version": 2}
    without_base = await client.patch(path, json={"markdown": "Five."}, headers=headers)
    assert without_base.json()["version"] == 3


async def test_the_same_again_makes_no_version(
    client: Client, world: World, make_page: MakePage, database: Database
) -> None:
    page = await make_page(markdown="One.\n\n- a\n- b")
    for change in (
        {"title": "Leave"},
        {"title": " Leave "},
        {"markdown": "One.\n\n- a\n- b"},
        {"content": page["content"]},
        {},
    ):
        saved = await client.patch(
            f"/v1/pages/{page['id']}", json=change, headers=world.headers("writer")
        )
        assert saved.status_code == 200
        assert saved.json() == page, change
    async with database.session() as session:
        assert await session.scalar(select(func.count()).select_from(PageHistory)) == 1


@pytest.mark.req("PN-01")
async def test_an_agents_edit_carries_agent_and_chat_and_the_person_stays(
    client: Client, world: World, make_page: MakePage, database: Database
) -> None:
    page = await make_page(markdown="One.")
    agent = await agent_of(database, world.actor("writer"))
    async with database.session() as session:
        await service.update_page(session, agent, UUID(page["id"]), markdown="Two.")
    headers = world.headers("writer")
    read = (await client.get(f"/v1/pages/{page['id']}", headers=headers)).json()
    assert read["lastUpdatedBy"] == {"id": str(world.users["writer"]), "name": "Writer"}
    assert read["lastUpdatedSource"] == "agent"
    assert read["aiChat"] == {"id": str(agent.chat_id), "mine": True}
    by_another = await client.get(f"/v1/pages/{page['id']}", headers=world.headers("reader"))
    assert by_another.json() == read | {"aiChat": {"id": None, "mine": False}}
    await client.patch(f"/v1/pages/{page['id']}", json={"title": "Mine"}, headers=headers)
    mine = (await client.get(f"/v1/pages/{page['id']}", headers=headers)).json()
    assert (mine["lastUpdatedSource"], mine["aiChat"]) == ("user", None)


async def test_every_direct_write_of_the_agent_is_marked(world: World, database: Database) -> None:
    agent = await agent_of(database, world.actor("writer"))
    async with database.session() as session:
        page = await service.create_page(
            session, agent, space_id=world.space("WIKI"), title="Made", markdown="Text."
        )
        parent = await service.create_page(
            session, world.actor("writer"), space_id=world.space("WIKI"), title="Parent"
        )
        plain = [
            await service.create_page(
                session, world.actor("writer"), space_id=world.space("WIKI"), title=f"Page {n}"
            )
            for n in range(3)
        ]
    async with database.session() as session:
        await service.update_page(session, agent, plain[0].id, title="Renamed")
        await service.move_page(session, agent, plain[1].id, parent_page_id=parent.id)
        await service.trash_page(session, agent, plain[2].id)
    async with database.session() as session:
        for made in (page, *plain):
            row = await session.get_one(Page, made.id)
            assert row.last_updated_source == "agent", row.title
            assert row.last_updated_ai_chat_id == agent.chat_id
            assert row.last_updated_by_id == agent.user_id
        first = await session.scalar(select(PageHistory).where(PageHistory.page_id == page.id))
        assert first is not None
        assert (first.version, first.last_updated_source) == (1, "agent")


async def test_a_save_wants_the_index_and_enqueues_one_job_after_the_commit(
    client: Client, world: World, make_page: MakePage, database: Database, redis: Redis
) -> None:
    page = await make_page(markdown="One.")
    headers, path = world.headers("writer"), f"/v1/pages/{page['id']}"
    await client.patch(path, json={"markdown": "Two."}, headers=headers)
    await client.patch(path, json={"markdown": "Three.", "baseVersion": 1}, headers=headers)
    await client.delete(path, headers=headers)
    await client.post(f"{path}/restore", headers=headers)
    await drain()
    async with database.session() as session:
        row = await session.get_one(PageIndex, UUID(page["id"]))
        assert (row.wanted_version, row.indexed_version, row.state) == (2, 0, "pending")
    messages = await redis.lrange("index", 0, -1)
    names = ["page.created", "page.updated", "page.trashed", "page.restored"]
    assert len(messages) == len(names)
    for name, message in zip(names, reversed(messages), strict=True):
        assert name.encode() in message
        assert page["title"].encode() not in message


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("😀🎉", "😀🎉"),
        ("会議の記録", "会議の記録"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("x" * 255, "x" * 255),
        (" \t x \n ", "x"),
        ("Ünï—Ко̆д", "Ünï—Ко̆д"),
    ],
)
async def test_titles_of_any_script_work(
    client: Client, world: World, make_page: MakePage, title: str, kept: str
) -> None:
    page = await make_page(title)
    assert page["title"] == kept
    assert page["url"].startswith("/s/wiki/p/")
    assert page["url"].endswith(page["slugId"])
    tree = await client.get(
        f"/v1/spaces/{world.space('WIKI')}/tree", headers=world.headers("reader")
    )
    assert tree.json()["items"][0]["title"] == kept


@pytest.mark.parametrize("title", ["", "   ", "\u200b\u200d", "x" * 256, "a\u0000b", None, 5, []])
async def test_titles_that_cannot_be_are_refused(
    client: Client, world: World, make_page: MakePage, title: object
) -> None:
    page = await make_page()
    body = {"spaceId": str(world.space("WIKI")), "title": title}
    headers = world.headers("writer")
    made = await client.post("/v1/pages", json=body, headers=headers)
    assert made.status_code == 422
    if title is not None:
        path = f"/v1/pages/{page['id']}"
        assert (await client.patch(path, json={"title": title}, headers=headers)).status_code == 422


READ, WRITE = ("GET",), ("PATCH", "DELETE")


@pytest.mark.req("WK-08")
async def test_who_may_do_what_with_a_page(
    client: Client, world: World, make_page: MakePage
) -> None:
    page = await make_page(markdown="Text.", by="owner")
    path = f"/v1/pages/{page['id']}"
    routes: list[tuple[str, str, dict[str, Any] | None, dict[str, int]]] = [
        ("GET", path, None, {"owner": 200, "writer": 200, "reader": 200}),
        ("GET", f"{path}?format=markdown", None, {"owner": 200, "writer": 200, "reader": 200}),
        ("GET", f"{path}/history", None, {"owner": 200, "writer": 200, "reader": 200}),
        ("GET", f"{path}/history/1", None, {"owner": 200, "writer": 200, "reader": 200}),
        ("PATCH", path, {"title": "Other"}, {"owner": 200, "writer": 200, "reader": 403}),
        ("PATCH", path, {"parentPageId": None}, {"owner": 200, "writer": 200, "reader": 403}),
        ("DELETE", path, None, {"reader": 403, "writer": 204, "owner": 404}),
        ("POST", f"{path}/restore", None, {"reader": 403, "writer": 200, "owner": 404}),
        (
            "POST",
            "/v1/pages",
            {"spaceId": str(world.space("WIKI")), "title": "New"},
            {"owner": 201, "writer": 201, "reader": 403},
        ),
    ]
    for method, where, body, expected in routes:
        for name in ("outsider", "admin", "other"):
            answer = await client.request(method, where, json=body, headers=world.headers(name))
            assert answer.status_code == 404, (method, where, name)
        assert (await client.request(method, where, json=body)).status_code == 401
        for name, status in expected.items():
            answer = await client.request(method, where, json=body, headers=world.headers(name))
            assert answer.status_code == status, (method, where, name, answer.text)


async def test_an_unknown_page_answers_as_a_foreign_one(
    client: Client, world: World, make_page: MakePage
) -> None:
    private = await make_page(space="PRIV", by="owner")
    foreign = await make_page(space="OTHER", by="other")
    trashed = await make_page("Gone")
    await client.delete(f"/v1/pages/{trashed['id']}", headers=world.headers("writer"))
    headers = world.headers("writer")
    refs = [str(uuid4()), private["id"], private["slugId"], foreign["id"], "0123456789"]
    for method, end, body in (
        ("GET", "", None),
        ("GET", "/history", None),
        ("GET", "/history/1", None),
        ("PATCH", "", {"title": "Mine"}),
        ("DELETE", "", None),
        ("POST", "/restore", None),
    ):
        texts = set()
        more = [] if end == "/restore" else [trashed["id"]]
        for ref in [*refs, *more]:
            answer = await client.request(
                method, f"/v1/pages/{ref}{end}", json=body, headers=headers
            )
            assert answer.status_code == 404, (method, end, ref)
            texts.add(answer.text)
        assert len(texts) == 1
    for space in (uuid4(), world.space("PRIV"), world.space("OTHER")):
        made = await client.post(
            "/v1/pages", json={"spaceId": str(space), "title": "X"}, headers=headers
        )
        assert made.status_code == 404
    for parent in (str(uuid4()), private["id"], foreign["id"], trashed["id"]):
        body = {"spaceId": str(world.space("WIKI")), "title": "X", "parentPageId": parent}
        made = await client.post("/v1/pages", json=body, headers=headers)
        assert (made.status_code, made.json()["error"]) == (404, "parent_not_found")


@pytest.mark.parametrize("ref", ["x", "1", "%00", "a%2Fb", "ABCDEFGHIJ", "0" * 300, "😀"])
async def test_a_malformed_id_is_a_clear_error(client: Client, world: World, ref: str) -> None:
    answer = await client.get(f"/v1/pages/{ref}", headers=world.headers("writer"))
    assert answer.status_code in (400, 404)
    assert set(answer.json()) >= {"error", "message"}


async def test_a_removed_member_is_out_at_the_next_request(
    client: Client, world: World, make_page: MakePage
) -> None:
    page = await make_page()
    path = f"/v1/pages/{page['id']}"
    assert (await client.get(path, headers=world.headers("reader"))).status_code == 200
    await client.delete(
        f"/v1/spaces/{world.space('WIKI')}/members/{world.users['reader']}",
        headers=world.headers("owner"),
    )
    assert (await client.get(path, headers=world.headers("reader"))).status_code == 404
