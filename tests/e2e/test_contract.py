"""The stream's contract: the live server's frames, read by the AI SDK as anybody installs it.

Every case ends alike: what the SDK's client shows is what is stored, part by part, and the
client complained of nothing.
"""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.fakes import sdk_client
from tests.fakes.installation import make_page
from tests.fakes.llm_script import (
    CUT,
    DONE,
    RESET,
    Gate,
    calls,
    chunk,
    data,
    error,
    finish,
    reasoning,
    says,
    stream,
    text,
    usage,
)
from tests.fakes.sdk_client import SdkClients
from tests.fakes.sdk_contract import agreed, failed, finished, kinds, stored, texts
from tests.fakes.told_model import KEY, ToldModel, new_question

pytestmark = [
    pytest.mark.slow,
    pytest.mark.req("RG-14"),
    pytest.mark.skipif(
        not sdk_client.available(), reason="needs Node.js and the web app's packages (`make web`)"
    ),
]

REFUSAL = f"Incorrect API key provided: {KEY}. You can find your API key in your account."


def test_text(sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel) -> None:
    question = new_question()
    told.plays(question, says("Hello", " there", "."))
    state = sdk.ask(question)
    finished(state)
    assert state["statuses"] == ["ready", "submitted", "streaming", "ready"]
    parts = agreed(sdk, person, state)
    assert kinds(parts) == ["step-start", "text"]
    assert texts(parts) == ["Hello there."]


def test_reasoning(sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel) -> None:
    question = new_question()
    told.plays(
        question,
        stream(reasoning("Let me", " think."), text("Done", "."), finish(), usage(10, 4), DONE),
    )
    state = sdk.ask(question)
    finished(state)
    parts = agreed(sdk, person, state)
    assert kinds(parts) == ["step-start", "reasoning", "text"]
    assert texts(parts, "reasoning") == ["Let me think."]


def test_parallel_tools(sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel) -> None:
    question = new_question()
    told.plays(
        question,
        calls(("searchPages", {"query": "spaces"}), ("listPages", {}), said="I look twice."),
        says("Both answered."),
    )
    state = sdk.ask(question)
    finished(state)
    parts = agreed(sdk, person, state)
    assert kinds(parts) == [
        "step-start",
        "text",
        "tool-searchPages",
        "tool-listPages",
        "step-start",
        "text",
    ]
    assert [p["state"] for p in parts if "toolCallId" in p] == ["output-available"] * 2
    assert parts[2]["input"] == {"query": "spaces"}
    assert "hits" in parts[2]["output"]


def test_a_citation(sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel) -> None:
    made = make_page(person, "Cited", "Here it stands.")
    question = new_question()
    told.plays(
        question,
        calls(("getPage", {"pageId": made["id"]})),
        says(f"It stands [there]({made['url']}#b1)."),
    )
    state = sdk.ask(question)
    finished(state)
    parts = agreed(sdk, person, state)
    assert kinds(parts)[-2:] == ["text", "source-url"]
    assert parts[-1]["url"] == f"{made['url']}#b1"
    assert parts[-1]["title"] == "Cited"


def test_a_tool_error(sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel) -> None:
    question = new_question()
    told.plays(question, calls(("getPage", {"pageId": str(uuid4())})), says("No such page."))
    state = sdk.ask(question)
    finished(state)
    call = agreed(sdk, person, state)[1]
    assert (call["type"], call["state"]) == ("tool-getPage", "output-error")
    assert call["errorText"].startswith("page_not_found: ")


@pytest.mark.parametrize(
    ("name", "arguments", "says_why"),
    [
        ("launchRockets", {"count": 2}, "unknown_or_disallowed_tool"),
        ("getPage", '{"pageId": ', "not valid JSON"),
        ("getPage", {"pageId": 7}, "pageId"),
    ],
    ids=["an-unknown-tool", "half-arguments", "wrong-arguments"],
)
def test_a_call_that_cannot_be_made(
    sdk: SdkClients,
    person: httpx2.Client,
    chat: str,
    told: ToldModel,
    name: str,
    arguments: Any,
    says_why: str,
) -> None:
    question = new_question()
    told.plays(question, calls((name, arguments)), says("Then I do without it."))
    state = sdk.ask(question)
    finished(state)
    parts = agreed(sdk, person, state)
    assert (parts[1]["type"], parts[1]["state"]) == (f"tool-{name}", "output-error")
    assert says_why in parts[1]["errorText"]
    assert texts(parts) == ["Then I do without it."]


def test_stop(sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel) -> None:
    question = new_question()
    told.plays(question, stream(text("Half of", " it"), Gate()))
    sdk.send(question)
    sdk.until("Half of it")
    answer = person.post(f"/v1/ai/chat/tenant/{chat}/stop")
    assert answer.json()["stopped"] is True
    state = sdk.settle()
    finished(state, "interrupted")
    assert texts(agreed(sdk, person, state)) == ["Half of it"]
    assert stored(person, state)[-1]["status"] == "aborted"
    told.server.wait(lambda: told.asked(question)[0].closed_at is not None)


def test_an_error_before_the_first_byte(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question = new_question()
    told.plays(question, error(401, REFUSAL, code="invalid_api_key"))
    state = sdk.ask(question)
    failed(state, "401", "provider_auth")
    assert agreed(sdk, person, state) == []
    assert "did not accept the API key" in state["error"]


@pytest.mark.parametrize(
    ("broken", "says_what", "code"),
    [
        ([data({"error": {"message": REFUSAL, "code": 401}})], "401", "provider_auth"),
        ([RESET], "broke off", "provider_network"),
        ([CUT], "broke off", "provider_network"),
    ],
    ids=["a-frame-that-echoes-the-key", "a-reset", "a-cut"],
)
def test_an_error_in_mid_stream(
    sdk: SdkClients,
    person: httpx2.Client,
    chat: str,
    told: ToldModel,
    broken: list[Any],
    says_what: str,
    code: str,
) -> None:
    question = new_question()
    told.plays(question, stream(text("Half of", " it"), *broken))
    state = sdk.ask(question)
    failed(state, says_what, code)
    assert texts(agreed(sdk, person, state)) == ["Half of it"]


def test_characters_that_break_naive_readers_arrive_whole(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    whole = "a\u2028b\u2029c\u0085d \U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301 "
    question = f"{new_question()}\u2028 \U0001f600"
    halves = [raw_text('"\\ud83d"'), raw_text('"\\ude00 end"')]
    told.plays(question, stream(text(*whole), halves, finish(), usage(), DONE))
    state = sdk.ask(question)
    finished(state)
    assert texts(agreed(sdk, person, state)) == [whole + "\U0001f600 end"]
    assert texts(stored(person, state)[0]["parts"]) == [question]


def raw_text(piece: str) -> bytes:
    """A delta whose text is this JSON, as it stands: half of a pair cannot be said otherwise."""
    empty = data(chunk({"content": "HERE"}))
    return empty.replace(b'"HERE"', piece.encode())
