from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import text

from shared.core.db import Database
from shared.core.errors import PageturnError
from shared.core.tunables import MAX_PAGE_DEPTH
from shared.wiki import service
from shared.wiki.models import Page
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient


class Tree:
    """A space's tree as the API tells it."""

    def __init__(self, client: Client, world: World) -> None:
        self._client = client
        self.path = f"/v1/spaces/{world.space('WIKI')}/tree"
        self._headers = world.headers("writer")

    async def level(self, parent: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """All pages under a parent, page by page."""
        items: list[dict[str, Any]] = []
        query: dict[str, Any] = {"limit": limit} | ({"parentPageId": parent} if parent else {})
        while True:
            answer = await self._client.get(self.path, params=query, headers=self._headers)
            assert answer.status_code == 200, answer.text
            body = answer.json()
            assert len(body["items"]) <= limit
            items += body["items"]
            if body["nextCursor"] is None:
                return items
            query["cursor"] = body["nextCursor"]

    async def titles(self, parent: str | None = None) -> list[str]:
        return [item["title"] for item in await self.level(parent)]

    async def patch(self, page: dict[str, Any], **change: Any) -> httpx2.Response:
        return await self._client.patch(
            f"/v1/pages/{page['id']}", json=change, headers=self._headers
        )

    async def trash(self, page: dict[str, Any]) -> None:
        answer = await self._client.delete(f"/v1/pages/{page['id']}", headers=self._headers)
        assert answer.status_code == 204

    async def restore(self, page: dict[str, Any]) -> dict[str, Any]:
        answer = await self._client.post(f"/v1/pages/{page['id']}/restore", headers=self._headers)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body


@pytest.fixture
def tree(client: Client, world: World) -> Tree:
    return Tree(client, world)


async def test_three_hundred_children_page_well(
    tree: Tree, make_page: MakePage, world: World, database: Database
) -> None:
    parent = await make_page("Parent")
    async with database.session() as session:
        for number in range(300):
            await service.create_page(
                session,
                world.actor("writer"),
                space_id=world.space("WIKI"),
                title=f"Child {number}",
                parent_page_id=UUID(parent["id"]),
            )
    children = await tree.level(parent["id"], limit=70)
    assert [child["title"] for child in children] == [f"Child {n}" for n in range(300)]
    (top,) = await tree.level()
    assert top["hasChildren"] is True
    assert children[0]["hasChildren"] is False
    assert {child["parentPageId"] for child in children} == {parent["id"]}


async def test_children_in_the_trash_do_not_count(tree: Tree, make_page: MakePage) -> None:
    parent = await make_page("Parent")
    child = await make_page("Child", parentPageId=parent["id"])
    await tree.trash(child)
    (top,) = await tree.level()
    assert top["hasChildren"] is False


@pytest.mark.req("WK-10")
async def test_a_hundred_moves_between_two_neighbours_keep_order_and_short_positions(
    tree: Tree, make_page: MakePage, database: Database
) -> None:
    first, last = await make_page("First"), await make_page("Last")
    pages = [await make_page(f"Page {number}") for number in range(5)]
    expected: list[str] = []
    for turn in range(100):
        page = pages[turn % 5]
        moved = await tree.patch(page, parentPageId=None, afterPageId=first["id"])
        assert moved.status_code == 200, moved.text
        expected = [page["title"], *[title for title in expected if title != page["title"]]]
    assert await tree.titles() == ["First", *expected, "Last"]
    async with database.session() as session:
        longest = await session.scalar(text("SELECT max(length(position)) FROM pages"))
    assert longest <= 24
    assert last["version"] == 1


async def test_a_page_moves_under_another_and_keeps_its_version(
    tree: Tree, make_page: MakePage
) -> None:
    a, b, c = [await make_page(title) for title in "ABC"]
    moved = await tree.patch(c, parentPageId=a["id"])
    assert moved.json()["parentPageId"] == a["id"]
    assert moved.json()["version"] == 1
    await tree.patch(b, parentPageId=a["id"], afterPageId=None)
    assert await tree.titles() == ["A"]
    assert await tree.titles(a["id"]) == ["B", "C"]
    await tree.patch(b, afterPageId=c["id"], title="B2")
    assert await tree.titles(a["id"]) == ["C", "B2"]
    await tree.patch(c, parentPageId=None)
    assert await tree.titles() == ["A", "C"]
    again = await tree.patch(c, parentPageId=None)
    assert again.status_code == 200


async def test_moves_that_cannot_be_are_refused(
    tree: Tree, make_page: MakePage, world: World
) -> None:
    a = await make_page("A")
    b = await make_page("B", parentPageId=a["id"])
    c = await make_page("C", parentPageId=b["id"])
    elsewhere = await make_page("Elsewhere", space="READ", by="owner")
    private = await make_page("Private", space="PRIV", by="owner")
    for parent, status in (
        (a["id"], 422),
        (b["id"], 422),
        (c["id"], 422),
        (elsewhere["id"], 422),
        (private["id"], 404),
        (str(uuid4()), 404),
    ):
        answer = await tree.patch(a, parentPageId=parent)
        assert answer.status_code == status, (parent, answer.text)
    for after in (a["id"], c["id"], private["id"], str(uuid4())):
        answer = await tree.patch(a, parentPageId=None, afterPageId=after)
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid_move")
    assert await tree.titles(b["id"]) == ["C"]


async def test_trash_takes_the_subtree_and_restore_brings_it_back(
    tree: Tree, make_page: MakePage
) -> None:
    a = await make_page("A")
    b = await make_page("B", parentPageId=a["id"])
    c = await make_page("C", parentPageId=b["id"])
    earlier = await make_page("Earlier", parentPageId=b["id"])
    await tree.trash(earlier)
    await tree.trash(a)
    assert await tree.titles() == []
    missing = await tree.patch(c, title="Gone")
    assert missing.status_code == 404
    await tree.restore(a)
    assert await tree.titles() == ["A"]
    assert await tree.titles(b["id"]) == ["C"]
    back = await tree.restore(earlier)
    assert back["parentPageId"] == b["id"]
    assert await tree.titles(b["id"]) == ["C", "Earlier"]


async def test_a_page_whose_parent_is_gone_comes_back_at_the_top(
    tree: Tree, make_page: MakePage
) -> None:
    a = await make_page("A")
    b = await make_page("B", parentPageId=a["id"])
    c = await make_page("C", parentPageId=b["id"])
    await make_page("Z")
    await tree.trash(a)
    restored = await tree.restore(b)
    assert restored["parentPageId"] is None
    assert await tree.titles() == ["Z", "B"]
    assert await tree.titles(b["id"]) == ["C"]
    assert (await tree.patch(c, title="C2")).status_code == 200
    await tree.restore(a)
    assert await tree.titles() == ["A", "Z", "B"]
    assert await tree.titles(a["id"]) == []


async def test_pages_are_nested_to_a_bound(tree: Tree, world: World, database: Database) -> None:
    writer, space = world.actor("writer"), world.space("WIKI")
    async with database.session() as session:
        parent: UUID | None = None
        chain = []
        for number in range(MAX_PAGE_DEPTH):
            page = await service.create_page(
                session, writer, space_id=space, title=f"Level {number}", parent_page_id=parent
            )
            parent = page.id
            chain.append(page.id)
        with pytest.raises(PageturnError, match="levels deep"):
            await service.create_page(
                session, writer, space_id=space, title="Too deep", parent_page_id=parent
            )
        lone = await service.create_page(session, writer, space_id=space, title="Lone")
        with pytest.raises(PageturnError, match="levels deep"):
            await service.move_page(session, writer, chain[0], parent_page_id=lone.id)
        await service.trash_page(session, writer, chain[0])
    assert await tree.titles() == ["Lone"]
    async with database.session() as session:
        await service.restore_page(session, writer, chain[0])
    assert await tree.titles(str(chain[-2])) == [f"Level {MAX_PAGE_DEPTH - 1}"]


@pytest.mark.req("RG-04")
async def test_a_cycle_in_the_data_breaks_no_route(
    tree: Tree, make_page: MakePage, database: Database, client: Client, world: World
) -> None:
    a = await make_page("A")
    b = await make_page("B", parentPageId=a["id"])
    c = await make_page("C")
    async with database.session() as session:
        row = await session.get_one(Page, UUID(a["id"]))
        row.parent_page_id = UUID(b["id"])
    headers = world.headers("writer")
    assert await tree.titles() == ["C"]
    assert await tree.titles(a["id"]) == ["B"]
    assert await tree.titles(b["id"]) == ["A"]
    assert (await client.get(f"/v1/pages/{a['id']}", headers=headers)).status_code == 200
    assert (await tree.patch(c, parentPageId=a["id"])).status_code == 422
    assert (await tree.patch(a, parentPageId=b["id"])).status_code == 422
    body = {"spaceId": str(world.space("WIKI")), "title": "X", "parentPageId": a["id"]}
    assert (await client.post("/v1/pages", json=body, headers=headers)).status_code == 422
    assert (await tree.patch(a, parentPageId=None)).status_code == 200
    assert await tree.titles() == ["C", "A"]
    async with database.session() as session:
        row = await session.get_one(Page, UUID(a["id"]))
        row.parent_page_id = UUID(b["id"])
    await tree.trash(a)
    assert await tree.titles() == ["C"]
    await tree.restore(a)
    assert set(await tree.titles()) == {"C", "A"}


@pytest.mark.req("WK-31")
async def test_limits_and_ids_of_the_tree_are_checked(
    tree: Tree, client: Client, world: World, make_page: MakePage
) -> None:
    headers = world.headers("writer")
    for query in ({"limit": 0}, {"limit": 101}, {"parentPageId": "x"}, {"cursor": "x"}):
        assert (await client.get(tree.path, params=query, headers=headers)).status_code == 400
    other = await make_page("Other", space="READ", by="owner")
    for parent in (str(uuid4()), other["id"]):
        answer = await client.get(tree.path, params={"parentPageId": parent}, headers=headers)
        assert answer.status_code == 404
    assert (await client.get("/v1/spaces/x/tree", headers=headers)).status_code == 400
