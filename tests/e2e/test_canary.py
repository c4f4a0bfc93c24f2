"""No secret and no content where it does not belong: logs, messages, Flower, metrics."""

import json
from pathlib import Path

import httpx2
import pytest
import redis

from tests.fakes.installation import PASSWORD, Installation, ask

pytestmark = pytest.mark.slow

PROMPT = "canaryprompt7391"
TEXT = "canarypagetext5520"
TITLE = "canarytitle8814"
CANARIES = (PROMPT, TEXT, TITLE)


def secrets(home: Path) -> list[str]:
    """What this installation must never show: its secret, and the stores' passwords."""
    state = json.loads((home / "run" / "state.json").read_text())
    found = [(home / "app_secret").read_text().strip(), PASSWORD]
    for name in ("database_url", "redis_url"):
        found.append(httpx2.URL(state[name]).password or "")
    assert all(len(secret) >= 8 for secret in found)
    return found


@pytest.fixture(scope="module")
def used(installation: Installation) -> Installation:
    """An installation in which the canaries were saved, asked, found and quoted."""
    client = installation.sign_in()
    space = next(s for s in client.get("/v1/spaces").json()["items"] if s["name"] == "General")[
        "id"
    ]
    body = {"spaceId": space, "title": TITLE, "markdown": f"The {TEXT} is here. {PROMPT} too."}
    assert client.post("/v1/pages", json=body).status_code in (200, 201)
    page = ask(client, f"Where is {PROMPT}?")
    assert any(TEXT in str(chunk) for chunk in page.chunks)
    client.get("/v1/search", params={"q": PROMPT})
    client.get("/v1/pages/not-a-page-" + PROMPT)
    client.post("/v1/pages", json={"spaceId": space, "title": TITLE, "content": {"type": PROMPT}})
    client.post("/v1/auth/sign-in", json={"email": "owner@example.org", "password": PROMPT * 3})
    return installation


def test_logs_hold_no_secret_and_no_content(used: Installation) -> None:
    logs = list((used.home / "logs").glob("*"))
    assert len(logs) >= 5
    for path in [*logs, used.home.parent / "up.log"]:
        text = path.read_text(errors="replace")
        for canary in (*CANARIES, *secrets(used.home)):
            assert canary not in text, f"{path.name} holds a canary"


def test_flower_and_metrics_hold_no_secret_and_no_content(used: Installation) -> None:
    pages = [
        httpx2.get(f"http://127.0.0.1:{used.flower_port}{path}", timeout=20).text
        for path in (
            "/api/tasks?limit=1000",
            "/api/workers?refresh=1",
            "/metrics",
            "/tasks",
            "/broker",
        )
    ]
    pages.append(httpx2.get(f"{used.url}/metrics", timeout=10).text)
    pages.append(httpx2.get(f"{used.url}/readyz", timeout=10).text)
    for page in pages:
        for canary in (*CANARIES, *secrets(used.home)):
            assert canary not in page


def test_redis_holds_content_only_in_streams_that_expire(used: Installation) -> None:
    state = json.loads((used.home / "run" / "state.json").read_text())
    client = redis.Redis.from_url(state["redis_url"])
    streams = 0
    for key in client.scan_iter(count=1000):
        kind = client.type(key)
        if kind == b"stream" and key.endswith(b":events"):
            streams += 1
            assert 0 < client.ttl(key) <= 3600
            continue
        dump = repr(client.dump(key))
        for canary in (*CANARIES, *secrets(used.home)):
            assert canary not in dump, key
    assert streams


def test_no_response_holds_a_secret(used: Installation) -> None:
    client = used.sign_in()
    for path in (
        "/v1/auth/me",
        "/v1/auth/sessions",
        "/v1/workspace/ai-settings",
        "/v1/spaces",
        "/v1/ai/chats",
        "/openapi.json",
        "/healthz",
        "/readyz",
        "/metrics",
        "/v1/nowhere",
    ):
        text = client.get(path).text
        for secret in secrets(used.home):
            assert secret not in text


def test_secrets_in_the_data_folder_are_private(used: Installation) -> None:
    for path in (used.home / "app_secret", used.home / "run" / "state.json"):
        assert path.stat().st_mode & 0o077 == 0


def test_no_command_line_shows_a_secret(used: Installation) -> None:
    for pid in used.pids():
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        for secret in secrets(used.home):
            assert secret not in line
