"""Started as a person starts it: it answers, survives what dies, and leaves nothing behind."""

import os
import signal
import time

import httpx2
import pytest

from tests.fakes.installation import Installation, ask, blocks, wait_for
from tests.fakes.ui_message import UiMessage

pytestmark = pytest.mark.slow

PROCESSES = ("api", "worker-chat", "worker-rpc", "worker-index", "beat", "flower")


@pytest.mark.req("ST-01", "RA-01")
def test_a_new_installation_answers_its_first_question_with_a_citation(
    installation: Installation,
) -> None:
    client = installation.sign_in()
    page = ask(client, "How does the agent cite the passage it relies on?")
    assert page.done
    assert page.kinds()[0] == "start"
    assert page.kinds()[-1] == "finish"
    sources = [part for part in page.parts if part["type"] == "source-url"]
    assert sources
    text = " ".join(part["text"] for part in page.parts if part["type"] == "text")
    assert "quoting" in text


@pytest.mark.req("ST-01")
def test_frames_come_one_by_one(installation: Installation) -> None:
    client = installation.sign_in()
    body = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "What is a space?"}]}]}
    arrivals: list[float] = []
    begun = time.monotonic()
    with client.stream("POST", "/v1/ai/chat/tenant", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
        assert response.headers["x-accel-buffering"] == "no"
        assert "connection" not in response.headers
        for line in response.iter_lines():
            if line.startswith("data: "):
                arrivals.append(time.monotonic() - begun)
    assert line == ""
    assert arrivals[0] < 2
    assert arrivals[-1] - arrivals[0] > 0.1
    assert len({round(moment, 2) for moment in arrivals}) > 3


@pytest.mark.req("RA-03")
def test_a_save_is_found_by_words_at_once_and_by_vectors_soon(installation: Installation) -> None:
    client = installation.sign_in()
    spaces = client.get("/v1/spaces").json()["items"]
    space = next(s for s in spaces if s["name"] == "General")["id"]
    made = client.post(
        "/v1/pages",
        json={"spaceId": space, "title": "Felines", "markdown": "The cat naps on the xyzzy."},
    )
    assert made.status_code in (200, 201), made.text
    saved = time.monotonic()
    by_words = client.get("/v1/search", params={"q": "xyzzy"}).json()["items"]
    assert by_words[0]["title"] == "Felines"

    def by_meaning() -> bool:
        found = client.get("/v1/search", params={"q": "sleeping kitten"}).json()
        return found["mode"] == "hybrid" and any(i["title"] == "Felines" for i in found["items"])

    wait_for(by_meaning, 5, "found by meaning")
    assert time.monotonic() - saved < 5


def test_flower_answers_on_loopback_and_shows_ids_only(installation: Installation) -> None:
    client = installation.sign_in()
    ask(client, "Where do flowersecretwords grow?")
    tasks = httpx2.get(f"http://127.0.0.1:{installation.flower_port}/api/tasks", timeout=10)
    assert tasks.status_code == 200
    assert "flowersecretwords" not in tasks.text


def test_status_names_every_process_and_its_log(installation: Installation) -> None:
    status = installation.run("status")
    assert status.returncode == 0
    for name in PROCESSES:
        assert name in status.stdout


@pytest.mark.parametrize("name", PROCESSES)
def test_a_killed_process_is_back_soon_and_serves(installation: Installation, name: str) -> None:
    before = installation.children()[name]
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: installation.children().get(name, before) != before, 30, f"{name} is back")
    installation.wait_ready()
    assert ask(installation.sign_in(), "What is a space?").done


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_killed_store_is_back_soon_with_its_data(installation: Installation, name: str) -> None:
    before = installation.children()[name]
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: installation.children().get(name, before) != before, 30, f"{name} is back")
    wait_for(
        lambda: httpx2.get(f"{installation.url}/readyz", timeout=5).status_code == 200,
        60,
        "ready again",
    )
    client = installation.sign_in()
    assert client.get("/v1/ai/chats").json()["items"]
    assert ask(client, "What is a space?").done


@pytest.mark.req("CH-12")
def test_an_answer_goes_on_when_its_worker_is_killed_in_the_middle(
    fresh: Installation,
) -> None:
    fresh.extra["PAGETURN_OFFLINE_PIECE_SECONDS"] = "0.15"
    fresh.start()
    client = fresh.sign_in()
    body = {
        "id": "c1",
        "messages": [
            {"id": "m", "role": "user", "parts": [{"type": "text", "text": "What is a space?"}]}
        ],
    }

    page, killed = UiMessage(), False
    begun = time.monotonic()
    with client.stream("POST", "/v1/ai/chat/tenant", json=body, timeout=60) as response:
        for block in blocks(response.iter_bytes()):
            page.feed_bytes(block)
            if not killed and page.kinds().count("text-delta") >= 3:
                os.kill(fresh.children()["worker-chat"], signal.SIGKILL)
                killed, begun = True, time.monotonic()
    assert killed
    assert page.done
    assert page.errors == []
    assert page.kinds().count("reset-step") == 1
    assert page.kinds().count("finish") == 1
    assert time.monotonic() - begun < 40
    chat = client.get("/v1/ai/chats").json()["items"][0]["id"]
    stored = client.get(f"/v1/ai/chats/{chat}/messages").json()["items"]
    texts = [p["text"] for p in stored[1]["parts"] if p["type"] == "text"]
    assert [p["text"] for p in page.parts if p["type"] == "text"] == texts
    assert stored[1]["status"] == "complete"


def test_after_the_supervisor_was_killed_it_serves_again_with_all_data(
    fresh: Installation,
) -> None:
    first = fresh.start()
    client = fresh.sign_in()
    assert ask(client, "What is a space?").done
    before = client.get("/v1/ai/chats").json()["items"]
    fresh.kill()
    second = fresh.start()
    after = fresh.sign_in().get("/v1/ai/chats").json()["items"]
    assert after == before
    fresh.stop()
    assert first < 60
    assert second < 30
