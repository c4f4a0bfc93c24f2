"""The contract beyond one stream: refusals, resuming, leaving, branches, an answer's metadata.

Every case ends alike: what the SDK's client shows is what is stored, part by part, and the
client complained of nothing.
"""

from typing import Any

import httpx2
import pytest

from tests.fakes import sdk_client
from tests.fakes.installation import wait_for
from tests.fakes.llm_script import (
    DONE,
    Gate,
    Reply,
    calls,
    finish,
    says,
    stream,
    text,
    usage,
)
from tests.fakes.sdk_client import SdkClients
from tests.fakes.sdk_contract import agreed, comparable, finished, kinds, stored, texts
from tests.fakes.told_model import MODEL, ToldModel, new_question

pytestmark = [
    pytest.mark.slow,
    pytest.mark.req("RG-14"),
    pytest.mark.skipif(
        not sdk_client.available(), reason="needs Node.js and the web app's packages (`make web`)"
    ),
]


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
