"""What is around every request: headers, logs, health, the web application, OpenAPI."""

import json
import logging
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy.exc import OperationalError

from api.deps import get_session
from api.frontend import Frontend
from shared.core.db import Database, make_engine
from tests.factories.pages import MakePage
from tests.factories.world import World

Client = httpx2.AsyncClient


async def test_every_answer_carries_the_security_headers_and_an_id(client: Client) -> None:
    ids = set()
    for path in ("/healthz", "/v1/auth/me", "/nothing", "/openapi.json"):
        headers = (await client.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "img-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        ids.add(headers["x-request-id"])
    assert len(ids) == 4


async def test_readyz_names_what_is_missing(app: FastAPI, client: Client, redis: Redis) -> None:
    answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "ok",
        "redis": "ok",
        "chatWorker": "missing",
        "rpcWorker": "missing",
        "indexWorker": "missing",
    }
    assert answer.json()["message"] == "Missing: chatWorker, rpcWorker, indexWorker."
    for kind in ("chat", "rpc"):
        await redis.zadd(f"pt:alive:{kind}", {"one": time.time()})
    await redis.zadd("pt:alive:index", {"two": time.time() - 60})
    assert (await client.get("/readyz")).json()["message"] == "Missing: indexWorker."
    await redis.zadd("pt:alive:index", {"two": time.time()})
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    await redis.zrem("pt:alive:chat", "one")
    assert (await client.get("/readyz")).status_code == 503
    kept, app.state.database = (
        app.state.database,
        Database(make_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")),
    )
    checks = (await client.get("/readyz")).json()["checks"]
    assert (checks["database"], checks["redis"]) == ("missing", "ok")
    app.state.database = kept
    kept_redis, app.state.redis = app.state.redis, Redis.from_url("redis://127.0.0.1:1/0")
    checks = (await client.get("/readyz")).json()["checks"]
    assert (checks["database"], checks["redis"]) == ("ok", "missing")
    app.state.redis = kept_redis
    assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_metrics_count_by_route_and_hold_no_ids(client: Client, world: World) -> None:
    page = await MakePage(client, world)("Secret title")
    await client.get(f"/v1/pages/{page['id']}?q=secret-query", headers=world.headers("writer"))
    await client.get("/v1/nothing-here")
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert (
        'pageturn_http_requests_total{method="GET",route="/v1/pages/{page_id}",status="200"}'
        in answer.text
    )
    for text in (page["id"], "secret", "Secret", "nothing-here"):
        assert text not in answer.text


async def test_the_log_has_ids_and_routes_and_no_content(client: Client, world: World) -> None:
    with structlog.testing.capture_logs() as lines:
        page = await MakePage(client, world)("Secret title", markdown="Secret text")
        await client.get("/v1/search?q=secret-query", headers=world.headers("writer"))
        await client.get(f"/v1/pages/{page['id']}?secret-query", headers=world.headers("writer"))
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["path"] for line in requests][::2] == ["/v1/pages", "/v1/pages/{page_id}"]
    assert all(line["ms"] > 0 for line in requests)
    text = json.dumps(lines, default=str).lower()
    assert "secret" not in text
    assert world.tokens["writer"] not in text


async def test_an_unexpected_error_is_a_plain_500_and_its_text_is_not_logged(
    app: FastAPI, client: Client, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails() -> Any:
        raise ValueError("secret content")
        yield

    app.dependency_overrides[get_session] = fails
    with structlog.testing.capture_logs() as lines, caplog.at_level(logging.DEBUG):
        answer = await client.get("/v1/auth/me", headers=world.headers("writer"))
    assert answer.status_code == 500
    assert answer.json()["error"] == "internal"
    assert "x-request-id" in answer.headers
    (line,) = [line for line in lines if line["event"] == "internal"]
    assert line["error"] == "ValueError"
    assert "secret" not in json.dumps(lines, default=str) + caplog.text + answer.text


async def test_a_database_that_is_away_is_a_503(app: FastAPI, client: Client, world: World) -> None:
    async def away() -> Any:
        raise OperationalError("SELECT secret", {}, Exception("secret"))
        yield

    app.dependency_overrides[get_session] = away
    answer = await client.get("/v1/auth/me", headers=world.headers("writer"))
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert "secret" not in answer.text


@pytest.fixture
def built(app: FastAPI, tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Pageturn</title>")
    (tmp_path / "favicon.svg").write_text("<svg/>")
    (tmp_path / "assets" / "main-abc.js").write_text("export {}")
    app.router.default = Frontend(tmp_path)
    return tmp_path


async def test_the_web_application_is_served_for_its_own_addresses(
    built: Path, client: Client
) -> None:
    for path in ("/", "/index.html", "/s/wiki/p/leave-abc", "/sign-in?token=x", "/chat/1", "/v12"):
        answer = await client.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-cache"
    script = await client.get("/assets/main-abc.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    assert (await client.head("/")).status_code == 200
    assert (await client.get("/favicon.svg")).text == "<svg/>"
    for path in ("/assets/gone.js", "/v1/gone", "/v1"):
        answer = await client.get(path, headers={"accept": "text/html"})
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found"), path


async def test_no_address_leads_out_of_the_web_folder(built: Path, client: Client) -> None:
    (built.parent / "outside.txt").write_text("outside")
    for path in ("/../outside.txt", "/%2e%2e/outside.txt", "/assets/..%2f..%2foutside.txt", "/%00"):
        answer = await client.get(path)
        assert "outside" not in answer.text
        assert answer.status_code in (200, 404)


async def test_without_a_build_a_clear_text_says_what_to_do(
    app: FastAPI, client: Client, tmp_path: Path
) -> None:
    app.router.default = Frontend(tmp_path / "none")
    answer = await client.get("/")
    assert answer.status_code == 503
    assert "make run" in answer.text


async def test_openapi_is_complete(client: Client) -> None:
    schema = (await client.get("/openapi.json")).json()
    assert set(schema["components"]["securitySchemes"]) == {"HTTPBearer", "APIKeyCookie"}
    open_routes = {"/v1/auth/sign-in", "/v1/auth/sign-in-link"}
    names = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            names.append(operation["operationId"])
            assert operation.get("description") or operation.get("summary"), path
            if not path.startswith("/v1"):
                continue
            assert ("security" in operation) == (path not in open_routes), (method, path)
            for status in ("400", "401", "404", "409", "422", "429", "503"):
                ref = operation["responses"][status]["content"]["application/json"]["schema"]
                assert ref == {"$ref": "#/components/schemas/ErrorBody"}, (path, status)
    assert len(names) == len(set(names))
    assert "HTTPValidationError" not in json.dumps(schema["paths"])
