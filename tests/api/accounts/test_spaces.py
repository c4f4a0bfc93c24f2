import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories.world import World

Client = httpx2.AsyncClient


async def names(client: Client, headers: dict[str, str], limit: int = 20) -> list[str]:
    """All spaces of a person, page by page."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        answer = (await client.get("/v1/spaces", params=query, headers=headers)).json()
        assert len(answer["items"]) <= limit
        found += [item["name"] for item in answer["items"]]
        cursor = answer["nextCursor"]
        if cursor is None:
            return found


@pytest.mark.req("WK-06")
async def test_a_space_is_made_by_an_admin_of_the_workspace_who_becomes_its_admin(
    client: Client, world: World
) -> None:
    made = await client.post(
        "/v1/spaces", json={"name": "  Field   Notes "}, headers=world.headers("admin")
    )
    assert made.status_code == 201, made.text
    space = made.json()
    assert (space["name"], space["slug"], space["role"]) == ("Field Notes", "field-notes", "admin")
    assert await names(client, world.headers("admin")) == ["Field Notes"]
    read = await client.get(f"/v1/spaces/{space['id']}", headers=world.headers("admin"))
    assert read.json() == space
    hidden = await client.get(f"/v1/spaces/{space['id']}", headers=world.headers("owner"))
    assert hidden.status_code == 404
    member = await client.post("/v1/spaces", json={"name": "Mine"}, headers=world.headers("writer"))
    assert member.status_code == 403


@pytest.mark.req("WK-06")
async def test_a_taken_slug_is_refused_and_a_made_one_finds_room(
    client: Client, world: World
) -> None:
    headers = world.headers("owner")
    taken = await client.post(
        "/v1/spaces", json={"name": "Another", "slug": "wiki"}, headers=headers
    )
    assert (taken.status_code, taken.json()["error"]) == (409, "slug_taken")
    slugs = []
    for name in ("Wiki", "wiki", "会議の記録", "Кухня", "Ünï"):
        made = await client.post("/v1/spaces", json={"name": name}, headers=headers)
        slugs.append(made.json()["slug"])
    assert slugs == ["wiki-2", "wiki-3", "space", "space-2", "uni"]
    elsewhere = await client.post(
        "/v1/spaces", json={"name": "W2", "slug": "wiki-2"}, headers=world.headers("other")
    )
    assert elsewhere.status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x"},
        {"name": "x" * 101},
        {"name": "   x   "},
        {"name": "Good", "slug": "No Spaces"},
        {"name": "Good", "slug": "-edge"},
        {"name": "Good", "slug": "x" * 101},
        {"name": "Good", "slug": "x"},
        {"name": "NUL\u0000here"},
        {"name": "Good", "colour": "red"},
        {"slug": "good"},
    ],
)
@pytest.mark.req("WK-06")
async def test_a_space_that_cannot_be_is_refused(
    client: Client, world: World, body: dict[str, Any]
) -> None:
    answer = await client.post("/v1/spaces", json=body, headers=world.headers("owner"))
    assert answer.status_code == 422
    assert set(answer.json()) >= {"error", "message"}


@pytest.mark.req("WK-31")
async def test_spaces_come_in_pages_by_name(client: Client, world: World) -> None:
    headers = world.headers("owner")
    for number in range(7):
        await client.post("/v1/spaces", json={"name": f"Room {number}"}, headers=headers)
    rooms = [f"Room {number}" for number in range(7)]
    assert await names(client, headers, limit=3) == ["Priv", "Read", *rooms, "Wiki"]
    for limit in (0, 101, -1, "x"):
        answer = await client.get("/v1/spaces", params={"limit": limit}, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    for cursor in ("x", "W10=", "WyJhIiwiYiJd", "WyJcdTAwMDAiLCJiIl0=", "é", "AAAA"):
        answer = await client.get("/v1/spaces", params={"cursor": cursor}, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_cursor"), cursor


ROLES = ("owner", "writer", "reader", "outsider", "admin", "other")


@pytest.mark.req("WK-08")
async def test_who_may_do_what_with_a_space(client: Client, world: World) -> None:
    wiki = f"/v1/spaces/{world.space('WIKI')}"
    put = {"userId": str(world.users["admin"]), "role": "reader"}
    routes: list[tuple[str, str, dict[str, Any] | None, tuple[int, ...]]] = [
        ("GET", wiki, None, (200, 200, 200, 404, 404, 404)),
        ("GET", f"{wiki}/tree", None, (200, 200, 200, 404, 404, 404)),
        ("GET", f"{wiki}/members", None, (200, 200, 200, 404, 404, 404)),
        ("PUT", f"{wiki}/members", put, (200, 403, 403, 404, 200, 404)),
        (
            "DELETE",
            f"{wiki}/members?userId={world.users['reader']}",
            None,
            (204, 403, 404, 404, 403, 404),
        ),
    ]
    for method, path, body, expected in routes:
        for name, status in zip(ROLES, expected, strict=True):
            if (method, name) == ("PUT", "admin"):
                continue  # is a member by then
            answer = await client.request(method, path, json=body, headers=world.headers(name))
            assert answer.status_code == status, (method, path, name, answer.text)


async def test_an_unknown_space_answers_as_a_foreign_one(client: Client, world: World) -> None:
    for method, end, body in (
        ("GET", "", None),
        ("GET", "/tree", None),
        ("GET", "/members", None),
        ("PUT", "/members", {"userId": str(uuid4()), "role": "reader"}),
        ("DELETE", f"/members/{uuid4()}", None),
    ):
        answers = [
            await client.request(
                method, f"/v1/spaces/{space}{end}", json=body, headers=world.headers("writer")
            )
            for space in (uuid4(), world.space("PRIV"), world.space("OTHER"))
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert {answer.text for answer in answers} == {answers[0].text}


async def test_members_are_added_changed_and_removed(client: Client, world: World) -> None:
    owner, path = world.headers("owner"), f"/v1/spaces/{world.space('PRIV')}/members"
    added = await client.put(
        path, json={"email": "Outsider@example.org", "role": "reader"}, headers=owner
    )
    assert added.json() == {
        "userId": str(world.users["outsider"]),
        "email": "outsider@example.org",
        "name": "Outsider",
        "role": "reader",
    }
    await client.put(
        path, json={"userId": str(world.users["outsider"]), "role": "writer"}, headers=owner
    )
    listed = (await client.get(path, headers=world.headers("outsider"))).json()["items"]
    assert {item["email"]: item["role"] for item in listed} == {
        "owner@example.org": "admin",
        "outsider@example.org": "writer",
    }
    left = await client.delete(
        f"{path}/{world.users['outsider']}", headers=world.headers("outsider")
    )
    assert left.status_code == 204
    assert await names(client, world.headers("outsider")) == []
    again = await client.delete(f"{path}/{world.users['outsider']}", headers=owner)
    assert (again.status_code, again.json()["error"]) == (404, "user_not_found")


@pytest.mark.parametrize(
    "body",
    [
        {"role": "reader"},
        {"userId": str(uuid4()), "email": "a@b.c", "role": "reader"},
        {"userId": str(uuid4()), "role": "owner"},
        {"userId": "x", "role": "reader"},
    ],
)
async def test_a_membership_that_cannot_be_is_refused(
    client: Client, world: World, body: dict[str, Any]
) -> None:
    path = f"/v1/spaces/{world.space('WIKI')}/members"
    assert (await client.put(path, json=body, headers=world.headers("owner"))).status_code == 422


async def test_a_person_of_another_workspace_cannot_be_added(client: Client, world: World) -> None:
    path = f"/v1/spaces/{world.space('WIKI')}/members"
    answers = [
        await client.put(path, json=who | {"role": "reader"}, headers=world.headers("owner"))
        for who in (
            {"email": "other@example.org"},
            {"email": "nobody@example.org"},
            {"userId": str(world.users["other"])},
            {"userId": str(uuid4())},
        )
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert {answer.text for answer in answers} == {answers[0].text}


async def test_a_space_keeps_its_last_admin(client: Client, world: World) -> None:
    owner, path = world.headers("owner"), f"/v1/spaces/{world.space('WIKI')}/members"
    own = {"userId": str(world.users["owner"]), "role": "reader"}
    for refused in (
        await client.put(path, json=own, headers=owner),
        await client.delete(f"{path}/{world.users['owner']}", headers=owner),
    ):
        assert (refused.status_code, refused.json()["error"]) == (409, "last_admin")
    second = {"userId": str(world.users["writer"]), "role": "admin"}
    assert (await client.put(path, json=second, headers=owner)).status_code == 200
    answers = await asyncio.gather(
        client.delete(f"{path}/{world.users['owner']}", headers=world.headers("writer")),
        client.delete(f"{path}/{world.users['writer']}", headers=owner),
    )
    assert sorted(answer.status_code for answer in answers)[0] == 204
    assert sorted(answer.status_code for answer in answers)[1] in (403, 404, 409)


async def test_another_workspace_sees_only_its_own(client: Client, world: World) -> None:
    assert await names(client, world.headers("other")) == ["Other"]
