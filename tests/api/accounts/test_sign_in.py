import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx2
import jwt
import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy import text, update

from shared.accounts import people
from shared.accounts.models import User, UserSession
from shared.accounts.throttle import SignInThrottle
from shared.accounts.tokens import token_key
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.core.tunables import SIGN_IN_PER_MINUTE
from tests.factories.world import PASSWORD, World

Client = httpx2.AsyncClient


async def sign_in(client: Client, email: str, password: str = PASSWORD) -> httpx2.Response:
    return await client.post("/v1/auth/sign-in", json={"email": email, "password": password})


async def status_of(client: Client, token: str) -> int:
    answer = await client.get("/v1/auth/me", headers={"authorization": f"Bearer {token}"})
    return answer.status_code


@pytest.mark.req("WK-01")
async def test_signing_in_gives_a_token_and_a_cookie_and_both_work(
    client: Client, world: World
) -> None:
    answer = await sign_in(client, "WRITER@example.org")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["user"] == {
        "id": str(world.users["writer"]),
        "email": "writer@example.org",
        "name": "Writer",
        "role": "member",
    }
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("pageturn_session=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    me = await client.get("/v1/auth/me")
    assert me.status_code == 200
    assert me.json()["user"]["email"] == "writer@example.org"
    assert me.json()["workspace"] == {"id": str(world.workspace_id), "name": "Acme"}
    client.cookies.clear()
    assert (await client.get("/v1/auth/me")).status_code == 401
    assert await status_of(client, body["accessToken"]) == 200


async def test_over_https_the_cookie_is_secure(app: FastAPI, world: World) -> None:
    transport = httpx2.ASGITransport(app=app)
    async with Client(transport=transport, base_url="https://test") as client:
        assert "Secure" in (await sign_in(client, "writer@example.org")).headers["set-cookie"]


@pytest.mark.req("WK-01")
async def test_wrong_password_unknown_email_and_no_password_answer_alike(
    client: Client, world: World, database: Database
) -> None:
    async with database.session() as session:
        await session.execute(
            update(User).where(User.email == "admin@example.org").values(password_hash=None)
        )
        await session.execute(
            update(User)
            .where(User.email == "reader@example.org")
            .values(deactivated_at=datetime.now(UTC))
        )
        await session.execute(
            update(User).where(User.email == "owner@example.org").values(password_hash="$broken$")
        )
    answers = [
        await sign_in(client, "writer@example.org", "not the password"),
        await sign_in(client, "nobody@example.org"),
        await sign_in(client, "admin@example.org"),
        await sign_in(client, "reader@example.org"),
        await sign_in(client, "owner@example.org"),
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert {answer.text for answer in answers} == {answers[0].text}
    assert answers[0].json()["error"] == "wrong_credentials"


@pytest.mark.filterwarnings("ignore:The HMAC key is")
@pytest.mark.req("WK-01")
async def test_a_token_of_another_type_algorithm_or_without_a_claim_is_refused(
    client: Client, world: World
) -> None:
    key = token_key(get_settings().require_app_secret())
    now = datetime.now(UTC)
    good = {
        "typ": "access",
        "sub": str(world.users["writer"]),
        "sid": str(world.sessions["writer"]),
        "ws": str(world.workspace_id),
        "iat": now,
        "exp": now + timedelta(hours=1),
    }
    assert await status_of(client, jwt.encode(good, key, algorithm="HS256")) == 200
    for kind in ("collab", "exchange", "attachment", "mfa", "api-key", "", None, 1):
        assert await status_of(client, jwt.encode(good | {"typ": kind}, key)) == 401, kind
    for claim in good:
        without = {name: value for name, value in good.items() if name != claim}
        assert await status_of(client, jwt.encode(without, key)) == 401, claim
    for wrong in (
        {"exp": now - timedelta(seconds=5)},
        {"sub": str(world.users["owner"])},
        {"ws": str(world.other_workspace_id)},
        {"sid": str(uuid4())},
        {"sid": "not a uuid"},
        {"sid": 7},
    ):
        # PyJWT itself refuses to write a subject that is no string.
        assert await status_of(client, jwt.encode(good | wrong, key)) == 401, wrong
    assert await status_of(client, jwt.encode(good, key, algorithm="HS512")) == 401
    assert await status_of(client, jwt.encode(good, "", algorithm="none")) == 401
    assert await status_of(client, jwt.encode(good, b"x" * 32)) == 401
    for token in ("", "x", "a.b.c", "pt_", "pt_unknown", "é" * 10):
        header = f"Bearer {token}".encode()
        answer = await client.get("/v1/auth/me", headers={b"authorization": header})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.req("WK-01")
async def test_a_session_ends_at_once_when_signed_out_or_revoked(
    client: Client, world: World
) -> None:
    first = (await sign_in(client, "writer@example.org")).json()["accessToken"]
    second = (await sign_in(client, "writer@example.org")).json()["accessToken"]
    client.cookies.clear()
    bearer = {"authorization": f"Bearer {first}"}
    listed = (await client.get("/v1/auth/sessions", headers=bearer)).json()["items"]
    assert len(listed) == 3
    assert [item["current"] for item in listed] == [False, True, False]
    newest = listed[0]["id"]
    ended = await client.delete(f"/v1/auth/sessions/{newest}", headers=bearer)
    assert ended.status_code == 204
    assert await status_of(client, second) == 401
    assert (await client.delete(f"/v1/auth/sessions/{newest}", headers=bearer)).status_code == 404
    assert (await client.delete("/v1/auth/sessions", headers=bearer)).status_code == 204
    assert await status_of(client, world.tokens["writer"]) == 401
    assert await status_of(client, first) == 200
    assert (await client.post("/v1/auth/sign-out", headers=bearer)).status_code == 204
    assert await status_of(client, first) == 401


async def test_nobody_ends_the_session_of_another_person(client: Client, world: World) -> None:
    foreign = await client.delete(
        f"/v1/auth/sessions/{world.sessions['owner']}", headers=world.headers("writer")
    )
    unknown = await client.delete(f"/v1/auth/sessions/{uuid4()}", headers=world.headers("writer"))
    assert (foreign.status_code, foreign.json()) == (unknown.status_code, unknown.json())
    assert foreign.status_code == 404
    assert await status_of(client, world.tokens["owner"]) == 200


async def test_a_deactivated_person_is_out_at_once(
    client: Client, world: World, database: Database
) -> None:
    async with database.session() as session:
        key = await people.create_api_key(session, "writer@example.org", "script")
    assert await status_of(client, key) == 200
    async with database.session() as session:
        await session.execute(
            update(User)
            .where(User.id == world.users["writer"])
            .values(deactivated_at=datetime.now(UTC))
        )
    assert await status_of(client, world.tokens["writer"]) == 401
    assert await status_of(client, key) == 401


async def test_an_api_key_authenticates_but_is_no_session(
    client: Client, world: World, database: Database
) -> None:
    async with database.session() as session:
        key = await people.create_api_key(session, "Writer@example.org", "script")
    bearer = {"authorization": f"Bearer {key}"}
    assert (await client.get("/v1/auth/me", headers=bearer)).json()["sessionId"] is None
    out = await client.post("/v1/auth/sign-out", headers=bearer)
    assert (out.status_code, out.json()["error"]) == (400, "no_session")


async def test_use_prolongs_a_session_and_an_unused_one_ends(
    client: Client, world: World, database: Database
) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=2)
    soon = datetime.now(UTC) + timedelta(minutes=1)
    async with database.session() as session:
        await session.execute(
            update(UserSession)
            .where(UserSession.id == world.sessions["writer"])
            .values(last_seen_at=long_ago, expires_at=soon)
        )
        await session.execute(
            update(UserSession)
            .where(UserSession.id == world.sessions["reader"])
            .values(expires_at=datetime.now(UTC) - timedelta(seconds=1))
        )
    assert await status_of(client, world.tokens["writer"]) == 200
    assert await status_of(client, world.tokens["reader"]) == 401
    async with database.session() as session:
        row = await session.get_one(UserSession, world.sessions["writer"])
        assert row.last_seen_at > long_ago
        assert row.expires_at > soon + timedelta(days=20)


async def test_a_sign_in_link_works_once_even_for_two_at_the_same_time(
    client: Client, world: World, database: Database
) -> None:
    async with database.session() as session:
        token = await people.create_link(session, world.users["writer"])
    answers = await asyncio.gather(
        *(client.post("/v1/auth/sign-in-link", json={"token": token}) for _ in range(2))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 401]
    again = await client.post("/v1/auth/sign-in-link", json={"token": token})
    assert (again.status_code, again.json()["error"]) == (401, "dead_link")


async def test_a_password_is_changed_by_who_knows_it_and_other_sessions_end(
    client: Client, world: World, database: Database
) -> None:
    change = {"currentPassword": "wrong", "newPassword": "a new long password"}
    headers = world.headers("writer")
    other = (await sign_in(client, "writer@example.org")).json()["accessToken"]
    client.cookies.clear()
    refused = await client.put("/v1/auth/password", json=change, headers=headers)
    assert refused.status_code == 401
    change["currentPassword"] = PASSWORD
    weak = await client.put(
        "/v1/auth/password", json=change | {"newPassword": "1234567"}, headers=headers
    )
    assert (weak.status_code, weak.json()["error"]) == (422, "weak_password")
    done = await client.put("/v1/auth/password", json=change, headers=headers)
    assert done.status_code == 204
    assert await status_of(client, other) == 401
    assert await status_of(client, world.tokens["writer"]) == 200
    assert (await sign_in(client, "writer@example.org")).status_code == 401
    assert (await sign_in(client, "writer@example.org", "a new long password")).status_code == 200


async def test_the_eleventh_attempt_of_an_address_waits(client: Client, world: World) -> None:
    answers = [
        await sign_in(client, f"nobody{number}@example.org") for number in range(SIGN_IN_PER_MINUTE)
    ]
    assert {answer.status_code for answer in answers} == {401}
    refused = await sign_in(client, "writer@example.org")
    assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 61


async def test_the_eleventh_attempt_at_an_account_waits_from_any_address(
    app: FastAPI, world: World
) -> None:
    throttle: SignInThrottle = app.state.sign_in_throttle
    for number in range(SIGN_IN_PER_MINUTE):
        await throttle.check(address=f"10.0.0.{number}", account=" Writer@Example.org ")
    transport = httpx2.ASGITransport(app=app, client=("10.0.1.1", 1))
    async with Client(transport=transport, base_url="http://test") as client:
        assert (await sign_in(client, "writer@example.org")).status_code == 429
        assert (await sign_in(client, "reader@example.org")).status_code == 200


async def test_without_redis_nobody_signs_in(app: FastAPI, client: Client, world: World) -> None:
    away = "redis://127.0.0.1:1/0"
    app.state.sign_in_throttle = SignInThrottle(away, Redis.from_url(away))
    answer = await sign_in(client, "writer@example.org")
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert "set-cookie" not in answer.headers


async def test_a_cookie_changes_nothing_from_another_site(client: Client, world: World) -> None:
    await sign_in(client, "owner@example.org")
    body = {"name": "Made elsewhere"}
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://test.evil.example"},
        {"origin": ""},
        {"origin": "http://[broken"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        answer = await client.post("/v1/spaces", json=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (403, "foreign_origin"), headers
    for headers in (
        {},
        {"origin": "http://test"},
        {"origin": "https://TEST"},
        {"origin": "https://wiki.example", "sec-fetch-site": "same-origin"},
        {"origin": "https://wiki.example", "x-forwarded-host": "wiki.example"},
    ):
        own = await client.post("/v1/spaces", json=body, headers=headers)
        assert own.status_code == 201, headers
    bearer = {**world.headers("owner"), "origin": "https://tool.example"}
    assert (await client.post("/v1/spaces", json=body, headers=bearer)).status_code == 201


async def test_only_hashes_of_secrets_are_kept(world: World, database: Database) -> None:
    async with database.session() as session:
        link = await people.create_link(session, world.users["writer"])
        key = await people.create_api_key(session, "writer@example.org", "script")
        for table in ("sign_in_links", "api_keys", "users", "user_sessions"):
            rows = await session.scalars(text(f"SELECT t::text FROM {table} t"))
            dump = " ".join(rows)
            assert dump
            assert link not in dump
            assert key.removeprefix("pt_") not in dump
            assert PASSWORD not in dump
