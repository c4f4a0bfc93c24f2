"""Turns through the driver for OpenAI's interface against a server that others wrote."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.fakes import aimock
from tests.fakes.aimock import KEY, Aimock
from tests.fakes.installation import Installation, blocks, wait_for
from tests.fakes.ui_message import UiMessage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not aimock.available(), reason="needs Node.js and the web app's packages (`make web`)"
    ),
]

CALLS = [
    {"type": "text", "text": "I look in three places."},
    {"type": "toolCall", "id": "call_1", "name": "searchPages", "arguments": {"query": "spaces"}},
    {"type": "toolCall", "id": "call_1", "name": "listPages", "arguments": {}},
    {"type": "toolCall", "id": "call_2", "name": "getPage", "arguments": {"pageId": "nowhere"}},
]
FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"userMessage": "the plain question"},
        "response": {
            "content": "A plain answer, streamed piece by piece to whoever reads it.",
            "reasoning": "It is plain.",
            "usage": {"prompt_tokens": 321, "completion_tokens": 12, "total_tokens": 333},
        },
        "latency": 100,
    },
    {
        "match": {"userMessage": "look in three places", "hasToolResult": False},
        "response": {"blocks": CALLS},
    },
    {
        "match": {"userMessage": "look in three places", "hasToolResult": True},
        "response": {"content": "Two places answered, one does not exist."},
    },
    {
        "match": {"userMessage": "a busy moment", "sequenceIndex": 0},
        "response": {"error": {"message": "Slow down", "type": "rate_limit_error"}, "status": 429},
    },
    {
        "match": {"userMessage": "a busy moment", "sequenceIndex": 1},
        "response": {"content": "Now there is time."},
    },
    {
        "match": {"userMessage": "a model that is gone"},
        "response": {
            "error": {
                "message": "The model `stand-in-model` does not exist",
                "type": "invalid_request_error",
                "code": "model_not_found",
            },
            "status": 404,
        },
    },
    {
        "match": {"userMessage": "a broken line"},
        "response": {"content": "These words come before the line breaks, and these never do."},
        "latency": 300,
        "disconnectAfterMs": 700,
    },
]


@pytest.fixture(scope="module")
def stand_in() -> Iterator[Aimock]:
    folder = Path(tempfile.mkdtemp(prefix="pageturn-aimock-"))
    with aimock.serving(folder, FIXTURES) as server:
        yield server
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def client(stand_in: Aimock) -> Iterator[httpx2.Client]:
    """The owner of an installation whose workspace uses the stand-in."""
    folder = Path(tempfile.mkdtemp(prefix="pageturn-e2e-"))
    running = Installation(folder / "home", extra={"PAGETURN_PRIVATE_MODELS": "true"})
    running.start()
    owner = running.sign_in()
    settings = {
        "driver": "openai-compatible",
        "baseUrl": f"{stand_in.url}/v1",
        "apiKey": KEY,
        "chatModel": "stand-in-model",
    }
    assert owner.patch("/v1/workspace/ai-settings", json=settings).status_code == 200
    yield owner
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


def ask(client: httpx2.Client, text: str) -> UiMessage:
    """The stream of a new chat's first turn, to its end."""
    page = UiMessage()
    body = {"messages": [{"role": "user", "parts": [{"type": "text", "text": text}]}]}
    with client.stream("POST", "/v1/ai/chat/tenant", json=body, timeout=60) as response:
        assert response.status_code == 200, response.read()
        for block in blocks(response.iter_bytes()):
            page.feed_bytes(block)
    assert page.errors == []
    assert page.done
    return page


def text_of(page: UiMessage, kind: str = "text") -> str:
    return "".join(part["text"] for part in page.parts if part["type"] == kind)


def code_of(page: UiMessage) -> str | None:
    """The error code that the metadata before the end carry."""
    metadata = [c["messageMetadata"] for c in page.chunks if "messageMetadata" in c]
    code: str | None = metadata[-1].get("errorCode")
    return code


def turns_of(stand_in: Aimock, text: str) -> list[dict[str, Any]]:
    """The requests that a turn made: those that offer tools."""
    return [r for r in stand_in.requests() if r.get("tools") and text in str(r["messages"])]


def test_an_answer_comes_in_pieces_with_the_tokens_that_the_provider_counted(
    client: httpx2.Client, stand_in: Aimock
) -> None:
    page = ask(client, "This is the plain question.")
    assert text_of(page) == "A plain answer, streamed piece by piece to whoever reads it."
    assert text_of(page, "reasoning") == "It is plain."
    assert page.kinds().count("text-delta") > 1
    finish = page.chunks[-1]
    assert finish["finishReason"] == "stop"
    assert finish["messageMetadata"]["inputTokens"] == 321
    assert finish["messageMetadata"]["outputTokens"] == 12
    (request,) = turns_of(stand_in, "the plain question")
    assert request["model"] == "stand-in-model"
    assert request["stream_options"] == {"include_usage": True}


@pytest.mark.req("LP-06")
def test_several_calls_of_one_stream_are_all_run_and_go_back_each_with_its_own_id(
    client: httpx2.Client, stand_in: Aimock
) -> None:
    page = ask(client, "Please look in three places.")
    calls = [part for part in page.parts if part["type"].startswith("tool-")]
    assert [(call["type"], call["state"]) for call in calls] == [
        ("tool-searchPages", "output-available"),
        ("tool-listPages", "output-available"),
        ("tool-getPage", "output-error"),
    ]
    assert text_of(page).endswith("Two places answered, one does not exist.")
    first, second = turns_of(stand_in, "look in three places")
    assert {"searchPages", "listPages", "getPage"} <= {
        t["function"]["name"] for t in first["tools"]
    }
    asked = next(m for m in second["messages"] if m.get("tool_calls"))["tool_calls"]
    answered = [m["tool_call_id"] for m in second["messages"] if m["role"] == "tool"]
    assert [call["id"] for call in asked] == answered
    assert len(set(answered)) == 3


@pytest.mark.req("LP-09")
def test_a_request_that_comes_at_a_busy_moment_is_made_again(
    client: httpx2.Client, stand_in: Aimock
) -> None:
    page = ask(client, "This comes at a busy moment.")
    assert text_of(page) == "Now there is time."
    assert len(turns_of(stand_in, "a busy moment")) == 2


def test_an_answer_that_breaks_off_keeps_its_words_and_says_why(client: httpx2.Client) -> None:
    page = ask(client, "This goes over a broken line.")
    assert page.chunks[-1]["type"] == "error"
    assert code_of(page) == "provider_network"
    said = text_of(page)
    assert said
    assert "These words come before the line breaks".startswith(said[:20])
    chat = page.chunks[0]["messageMetadata"]["chatId"]
    stored = client.get(f"/v1/ai/chats/{chat}/messages").json()["items"][-1]
    assert stored["status"] == "error"
    assert [p["text"] for p in stored["parts"] if p["type"] == "text"] == [said]


def test_a_refusal_ends_the_turn_with_its_code_after_one_request(
    client: httpx2.Client, stand_in: Aimock
) -> None:
    page = ask(client, "This goes to a model that is gone.")
    assert page.chunks[-1]["type"] == "error"
    assert code_of(page) == "model_not_found"
    assert len(turns_of(stand_in, "a model that is gone")) == 1


@pytest.mark.req("PV-03")
def test_the_settings_test_calls_each_capability_with_the_key_and_reports_a_refusal(
    client: httpx2.Client, stand_in: Aimock
) -> None:
    def test(**more: str) -> dict[str, Any]:
        answer = client.post("/v1/workspace/ai-settings/test", json=more, timeout=60)
        assert answer.status_code == 200, answer.text
        assert KEY not in answer.text
        return dict(answer.json())

    embedding = {
        "capability": "embeddings",
        "embeddingDriver": "openai-compatible",
        "embeddingBaseUrl": f"{stand_in.url}/v1",
        "embeddingModel": "stand-in-embeddings",
    }
    good = test(**embedding, embeddingApiKey=KEY)
    assert good["ok"] is True
    assert good["dimensions"] == 1536
    assert stand_in.requests("/v1/embeddings")[-1]["model"] == "stand-in-embeddings"
    for wrong in (
        test(**embedding, embeddingApiKey="sk-another"),
        test(capability="chat", apiKey="sk-another"),
    ):
        assert wrong["ok"] is False
        assert wrong["error"]["code"] == "provider_auth"
        assert wrong["error"]["status"] == 401


def test_pages_are_found_by_the_stand_ins_vectors(client: httpx2.Client, stand_in: Aimock) -> None:
    settings = {
        "embeddingDriver": "openai-compatible",
        "embeddingBaseUrl": f"{stand_in.url}/v1",
        "embeddingModel": "stand-in-embeddings",
        "embeddingApiKey": KEY,
    }
    assert client.patch("/v1/workspace/ai-settings", json=settings).status_code == 200

    def indexed() -> bool:
        now = client.get("/v1/workspace/ai-settings").json()
        return not now["reindexing"] and now["indexedPages"] == now["totalPages"] > 0

    wait_for(indexed, 60, "every page indexed anew")
    found = client.get("/v1/search", params={"q": "what is a space"}).json()
    assert found["mode"] == "hybrid"
    assert found["items"]
