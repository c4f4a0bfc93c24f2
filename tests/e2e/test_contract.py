"""The stream's contract: the live server's frames, read by the AI SDK as anybody installs it.

Every case ends alike: what the SDK's client shows is what is stored, part by part, and the
client complained of nothing.
"""

import itertools
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.fakes import sdk_client
from tests.fakes.installation import Installation, make_page, wait_for
from tests.fakes.llm_script import (
    CUT,
    DONE,
    RESET,
    Gate,
    Reply,
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
from tests.fakes.sdk_client import SdkClients, State
from tests.fakes.told_model import KEY, MODEL, ToldModel, new_question

pytestmark = [
    pytest.mark.slow,
    pytest.mark.req("RG-14"),
    pytest.mark.skipif(
        not sdk_client.available(), reason="needs Node.js and the web app's packages (`make web`)"
    ),
]

REFUSAL = f"Incorrect API key provided: {KEY}. You can find your API key in your account."
Parts = list[dict[str, Any]]


@pytest.fixture(scope="module")
def people(agent: Installation) -> Iterator[httpx2.Client]:
    """One after the other, over and over: a person may only ask so often in a minute."""
    made = [
        agent.add_person(f"{name}@example.org", name, "General:writer") for name in ("ann", "ben")
    ]
    return itertools.cycle([agent.sign_in(), *made])


@pytest.fixture
def person(people: Iterator[httpx2.Client]) -> httpx2.Client:
    return next(people)


@pytest.fixture
def sdk(agent: Installation, person: httpx2.Client) -> Iterator[SdkClients]:
    token = person.headers["authorization"].removeprefix("Bearer ")
    with SdkClients(agent.url, token) as clients:
        yield clients
        assert clients.complaints() == []


@pytest.fixture
def chat(sdk: SdkClients) -> str:
    """The id of the client "a", which the client chose, as any does."""
    return str(sdk.open()["id"])


def stored(person: httpx2.Client, state: State) -> list[dict[str, Any]]:
    """The stored messages of a client's chat, by the id that the server told it."""
    metadata = next(m["metadata"] for m in state["messages"] if m.get("metadata"))
    answer = person.get(f"/v1/ai/chats/{metadata['chatId']}/messages")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def comparable(messages: list[dict[str, Any]]) -> list[tuple[str, Parts]]:
    """Roles and parts, without what is only for the stream: the title on a call's card, and the
    id by which the client finds a growing text."""
    passing = {"title", "id"}
    return [
        (m["role"], [{k: v for k, v in part.items() if k not in passing} for part in m["parts"]])
        for m in messages
    ]


def agreed(sdk: SdkClients, person: httpx2.Client, state: State) -> Parts:
    """The parts of the last message, which are the stored ones, as are all before it."""
    kept = stored(person, state)
    assert comparable(state["messages"]) == comparable(kept)
    answers = [m["id"] for m in state["messages"] if m["role"] == "assistant"]
    assert answers == [m["id"] for m in kept if m["role"] == "assistant"]
    sdk.validate(kept)
    parts: Parts = state["messages"][-1]["parts"]
    return parts


def finished(state: State, reason: str | None = "stop") -> None:
    assert (state["status"], state["error"], state["errors"]) == ("ready", None, [])
    last = state["finishes"][-1]
    assert last == {"isAbort": False, "isDisconnect": False, "isError": False} | {
        "finishReason": reason
    }


def texts(parts: Parts, kind: str = "text") -> list[str]:
    return [part["text"] for part in parts if part["type"] == kind]


def kinds(parts: Parts) -> list[str]:
    return [part["type"] for part in parts]


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


def failed(state: State, says_what: str, code: str) -> None:
    """With a short text for the person, and without the key."""
    assert state["status"] == "error"
    assert state["errors"] == [state["error"]]
    assert says_what in state["error"]
    assert len(state["error"]) < 400
    assert KEY not in str(state)
    assert state["finishes"][-1]["isError"] is True
    assert state["messages"][-1]["metadata"]["errorCode"] == code


def test_a_refusal_is_readable(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question, gate = new_question(), Gate()
    told.plays(question, stream(text("One"), gate, text(" two."), finish(), usage(), DONE))
    sdk.send(question)
    sdk.until("One")
    sdk.open("b", id=chat)
    refused = sdk.ask("And another thing?", "b")
    assert refused["status"] == "error"
    assert '"turn_running"' in refused["error"]
    gate.open()
    state = sdk.settle()
    finished(state)
    assert texts(agreed(sdk, person, state)) == ["One two."]


def test_resume_by_the_id_that_the_client_chose(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question, gate = new_question(), Gate()
    told.plays(question, stream(text("One,"), gate, text(" two."), finish(), usage(), DONE))
    sdk.send(question)
    first = sdk.until("One,")
    sdk.open("b", id=chat, messages=first["messages"][:1])
    sdk.resume("b")
    sdk.until("One,", "b")
    gate.open()
    state, second = sdk.settle(), sdk.settle("b")
    finished(state)
    finished(second)
    assert texts(agreed(sdk, person, state)) == ["One, two."]
    assert agreed(sdk, person, second) == state["messages"][-1]["parts"]
    sdk.resume("b")  # 204: nothing runs any more, and nothing changes
    after = sdk.settle("b")
    finished(after)
    assert after["messages"] == second["messages"]


def test_a_reload_in_a_later_step_shows_the_whole_answer(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question, gate = new_question(), Gate()
    told.plays(
        question,
        calls(("listPages", {}), ("getPage", {"pageId": "nowhere"}), said="I look."),
        stream(text("Found"), gate, text(" it."), finish(), usage(), DONE),
    )
    sdk.send(question)
    live = sdk.until("Found")
    kept = stored(person, live)
    sdk.open("reloaded", id=chat, messages=sdk.validate(kept[:1]))
    sdk.resume("reloaded")
    sdk.until("Found", "reloaded")
    gate.open()
    state, reloaded = sdk.settle(), sdk.settle("reloaded")
    assert agreed(sdk, person, reloaded) == agreed(sdk, person, state)
    assert reloaded["messages"][-1]["metadata"] == state["messages"][-1]["metadata"]
    again = sdk.open("again", id=chat, messages=sdk.validate(stored(person, state)))
    assert comparable(again["messages"]) == comparable(state["messages"])


def test_regenerate_with_and_without_an_id(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question = new_question()
    told.plays(question, *(says(word) for word in ("First.", "Second.", "Third.", "Fourth.")))
    state = sdk.ask(question)
    for options, word in (([], "Second."), (["messageId"], "Third."), (["messageId"], "Fourth.")):
        shown = state["messages"][-1]["id"]
        sdk.regenerate(**dict.fromkeys(options, shown))
        state = sdk.settle()
        finished(state)
        assert texts(agreed(sdk, person, state)) == [word]
        assert len(state["messages"]) == 2
        assert state["messages"][-1]["id"] != shown
    branch = stored(person, state)[-1]["branch"]
    assert branch["index"] == 3
    assert len(set(branch["ids"])) == 4


def test_an_earlier_message_in_other_words(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    first, second, other, last = (new_question() for _ in range(4))
    for question in (first, second, other, last):
        told.plays(question, says(f"Answer to {question}"))
    sdk.ask(first)
    state = sdk.ask(second)
    assert len(state["messages"]) == 4
    state = sdk.ask(other, messageId=state["messages"][0]["id"])
    finished(state)
    assert texts(agreed(sdk, person, state)) == [f"Answer to {other}"]
    assert len(state["messages"]) == 2
    kept = stored(person, state)
    assert len(kept[0]["branch"]["ids"]) == 2

    # By the stored id after a reload, and the model hears nothing of the words before.
    sdk.open("b", id=chat, messages=sdk.validate(kept))
    state = sdk.ask(last, "b", messageId=kept[0]["id"])
    finished(state)
    agreed(sdk, person, state)
    (request,) = told.asked(last)
    assert first not in str(request.messages)
    assert other not in str(request.messages)


def test_the_metadata_of_an_answer(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question, gate = new_question(), Gate()
    told.plays(
        question,
        stream(text("Ten"), gate, text(" tokens."), finish(), usage(123, 10), DONE),
    )
    sdk.send(question)
    early = sdk.until("Ten")["messages"][-1]["metadata"]
    assert early["model"] == MODEL
    assert {"chatId", "turnId"} <= early.keys()
    gate.open()
    state = sdk.settle()
    agreed(sdk, person, state)
    metadata = state["messages"][-1]["metadata"]
    assert metadata.items() >= early.items()
    assert (metadata["inputTokens"], metadata["outputTokens"]) == (123, 10)
    assert metadata["contextTokens"] == 133
    assert metadata["steps"] == 1
    assert metadata["truncated"] is False
    assert metadata["timeMs"] > 0
    assert metadata["changes"] == []
    assert stored(person, state)[-1]["metadata"] == metadata


def test_the_client_leaves_and_the_answer_is_written_all_the_same(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question, gate = new_question(), Gate()
    told.plays(question, stream(text("One,"), gate, text(" two."), finish(), usage(), DONE))
    sdk.send(question)
    sdk.until("One,")
    sdk.leave()
    left = sdk.settle()
    assert left["status"] == "ready"
    assert left["finishes"][-1]["isAbort"] is True
    assert told.asked(question)[0].closed_at is None
    gate.open()
    kept = wait_for(
        lambda: [m for m in stored(person, left)[1:] if m["status"] == "complete"],
        10,
        "the answer is stored",
    )
    assert texts(kept[0]["parts"]) == ["One, two."]
    reloaded = sdk.open("b", id=chat, messages=sdk.validate(stored(person, left)))
    agreed(sdk, person, reloaded)


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


@pytest.mark.req("LP-02")
def test_a_truncated_answer_is_continued(
    sdk: SdkClients, person: httpx2.Client, chat: str, told: ToldModel
) -> None:
    question = new_question()

    def always_calls(request: Any) -> Reply:
        if request.body.get("tools"):
            return calls(("listPages", {"limit": 1}))
        return says("So far.")

    told.plays(question, *[always_calls] * 9, says("And the rest."))
    state = sdk.ask(question)
    finished(state)
    parts = agreed(sdk, person, state)
    assert kinds(parts).count("tool-listPages") == 8
    assert texts(parts) == ["So far."]
    metadata = state["messages"][-1]["metadata"]
    assert (metadata["truncated"], metadata["steps"]) == (True, 9)

    sdk.go_on(state["messages"][0]["id"])
    state = sdk.settle()
    finished(state)
    assert texts(agreed(sdk, person, state)) == ["And the rest."]
    assert [m["role"] for m in state["messages"]] == ["user", "assistant", "assistant"]
    assert state["messages"][-1]["metadata"]["truncated"] is False
    told_last = [str(message) for message in told.asked(question)[-1].messages]
    assert sum(question in message for message in told_last) == 1
    assert any("So far." in message for message in told_last)
