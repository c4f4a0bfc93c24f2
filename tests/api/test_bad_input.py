"""What no client should send: a clear error, never a 5xx, never the input repeated."""

import json
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from shared.core.db import Database
from shared.core.tunables import MAX_BODY_BYTES
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient
CANARY = "canary-7f3a"


async def post(client: Client, world: World, raw: bytes | str) -> httpx2.Response:
    headers = {**world.headers("writer"), "content-type": "application/json"}
    return await client.post("/v1/pages", content=raw, headers=headers)


def refused(answer: httpx2.Response, *statuses: int) -> None:
    assert answer.status_code in statuses, answer.text
    body = answer.json()
    assert isinstance(body["error"], str)
    assert isinstance(body["message"], str)
    assert set(body) <= {"error", "message", "details"}
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "{",
        "null",
        "[]",
        '"text"',
        "NaN",
        '{"title": "x",}',
        "{'title': 'x'}",
        '{"title": "\x01"}',
        b"\xff\xfe",
        b'{"title": "\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"title": "x"}',
        f'{{"title": "{CANARY}',
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        '{"title": 1e999, "spaceId": 1' + "0" * 5_000 + "}",
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(
    client: Client, world: World, raw: bytes | str
) -> None:
    refused(await post(client, world, raw), 400, 422)


@pytest.mark.parametrize(
    "more",
    [
        r'"a\u0000b": 1',
        r'"\ud800": 1',
        r'"colour": "canary-7f3a"',
        r'"markdown": "\ud800"',
        r'"markdown": "a\u0000canary-7f3a"',
        r'"title": "\udfff"',
        r'"title": "a\u0000b"',
        r'"content": {"type": "doc", "a\u0000b": 1}',
        r'"content": {"type": "doc", "\ud800": 1}',
        r'"content": {"type": "doc", "content": [{"type": "text", "text": "\ud800"}]}',
        r'"content": {"type": "doc", "content": [{"type": "canary\u0000"}]}',
        r'"content": {"type": "doc", "content": [{"type": "table", "content": []}]}',
        r'"content": {"type": "doc", "content": [{"type": "heading", "attrs": {"level": NaN}}]}',
        r'"content": {"type": "paragraph"}',
        r'"content": {}',
        r'"content": []',
        r'"content": "text"',
        r'"content": {"type": "doc"}, "markdown": "both"',
        r'"parentPageId": "x"',
        r'"parentPageId": 7',
        r'"markdown": 7',
    ],
)
async def test_a_page_that_cannot_be_stored_is_refused(
    client: Client, world: World, more: str, database: Database
) -> None:
    title = "" if '"title"' in more else '"title": "Title", '
    raw = f'{{"spaceId": "{world.space("WIKI")}", {title}{more}}}'
    refused(await post(client, world, raw), 422)
    async with database.session() as session:
        assert await session.scalar(text("SELECT count(*) FROM pages")) == 0


async def test_a_document_nested_too_deep_is_refused_with_its_path(
    client: Client, world: World
) -> None:
    for depth in (200, 450, 10_000):
        node = '{"type":"blockquote","content":[' * depth + "]}" * depth
        document = f'{{"type":"doc","content":[{node}]}}'
        raw = f'{{"spaceId": "{world.space("WIKI")}", "title": "Deep", "content": {document}}}'
        refused(await post(client, world, raw), 400, 422)


async def test_a_refused_document_names_the_place_of_the_fault(
    client: Client, world: World
) -> None:
    document = {"type": "doc", "content": [{"type": "paragraph"}, {"type": "blink"}]}
    body = {"spaceId": str(world.space("WIKI")), "title": "Title", "content": document}
    answer = await client.post("/v1/pages", json=body, headers=world.headers("writer"))
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_document")
    assert answer.json()["details"] == {"path": "content.1.type"}


async def test_a_body_above_the_limit_is_refused_told_or_not(
    live_server: str, world: World
) -> None:
    headers = {**world.headers("writer"), "content-type": "application/json"}

    async def pieces() -> Any:
        for _ in range(MAX_BODY_BYTES // 65_536 + 2):
            yield b" " * 65_536

    async with Client(base_url=live_server) as client:
        told = await client.post("/v1/pages", content=b" " * (MAX_BODY_BYTES + 1), headers=headers)
        refused(told, 413)
        assert told.json()["error"] == "too_large"
        untold = await client.post("/v1/pages", content=pieces(), headers=headers)
        refused(untold, 413)
        assert (await client.get("/healthz")).status_code == 200


async def test_a_large_page_is_taken(client: Client, world: World) -> None:
    page = await MakePage(client, world)("Large", markdown="A sentence of words.\n\n" * 20_000)
    assert len(page["content"]["content"]) == 20_000


async def test_faults_are_named_without_the_input(client: Client, world: World) -> None:
    body = {"spaceId": CANARY, "markdown": [CANARY], CANARY[:3]: 1, "title": {"x": CANARY}}
    answer = await client.post("/v1/pages", json=body, headers=world.headers("writer"))
    refused(answer, 422)
    assert answer.json()["error"] == "invalid_input"
    paths = {detail["path"] for detail in answer.json()["details"]}
    assert paths == {"spaceId", "title", "markdown", "can"}


async def test_a_hundred_faults_are_cut(client: Client, world: World) -> None:
    body = {f"field{number}": number for number in range(100)}
    answer = await client.post("/v1/pages", json=body, headers=world.headers("writer"))
    refused(answer, 422)
    assert len(answer.json()["details"]) == 20


@pytest.mark.req("WK-31")
async def test_addresses_and_methods_that_are_not_there_answer_in_the_same_shape(
    client: Client, world: World
) -> None:
    headers = {**world.headers("writer"), "accept": "text/html"}
    for method, path, status in (
        ("GET", "/v1", 404),
        ("GET", "/v1/", 404),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/pages/", 404),
        ("POST", "/v1/nothing", 404),
        ("POST", "/nothing", 404),
        ("GET", "/v1/auth/sign-in", 405),
        ("PUT", "/v1/pages", 405),
        ("TRACE", "/v1/pages", 405),
        ("DELETE", "/healthz", 405),
        ("GET", "/v1/spaces/not-a-uuid", 400),
        ("GET", "/v1/%00", 404),
    ):
        answer = await client.request(method, path, headers=headers)
        refused(answer, status)


@pytest.mark.parametrize("host", ["[", "a b", "", "x" * 3_000, "é"])
async def test_a_strange_host_does_no_harm(client: Client, world: World, host: str) -> None:
    headers = {**world.headers("writer"), "host": host.encode()}
    for path in ("/v1/auth/me", "/healthz", "/"):
        assert (await client.get(path, headers=headers)).status_code in (200, 503)
    sent = {"email": "writer@example.org", "password": "wrong"}
    answer = await client.post("/v1/auth/sign-in", json=sent, headers={"host": host.encode()})
    assert answer.status_code == 401


async def test_a_body_of_another_type_is_refused(client: Client, world: World) -> None:
    body = json.dumps({"spaceId": str(world.space("WIKI")), "title": "x"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {**world.headers("writer"), "content-type": kind}
        refused(await client.post("/v1/pages", content=body, headers=headers), 400, 422)


@pytest.mark.req("RG-01")
async def test_every_json_column_holds_an_object_or_a_list(
    client: Client, world: World, database: Database
) -> None:
    make_page = MakePage(client, world)
    page = await make_page(markdown="# One\n\n- a\n- b\n\n| a | b |\n|---|---|\n| c | d |")
    await client.patch(
        f"/v1/pages/{page['id']}",
        json={"content": page["content"], "title": "Other"},
        headers=world.headers("writer"),
    )
    columns = text(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND data_type = 'jsonb'"
    )
    seen = set()
    async with database.session() as session:
        for table, column in (await session.execute(columns)).all():
            kinds = text(
                f"SELECT DISTINCT jsonb_typeof({column}) FROM {table} WHERE {column} IS NOT NULL"
            )
            found = set((await session.scalars(kinds)).all())
            assert found <= {"object", "array"}, (table, column)
            if found:
                seen.add(f"{table}.{column}")
    assert {"pages.content", "page_history.content"} <= seen
