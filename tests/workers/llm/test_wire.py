"""What is sent: requests in the protocol's words, as every server takes them."""

import re
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import llm_strict
from workers.llm import dialects
from workers.llm.base import (
    AssistantMessage,
    ModelMessage,
    ModelRequest,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from workers.llm.dialects import DIALECTS
from workers.llm.wire import call_id, clean, request_body

COMPATIBLE = DIALECTS["openai-compatible"]


def sent(*messages: ModelMessage, quirks: set[str] | None = None, **more: Any) -> dict[str, Any]:
    dialect = more.pop("dialect", COMPATIBLE)
    request = ModelRequest("m", more.pop("system", ""), messages, **more)
    return request_body(request, dialect, quirks or set())


def exchange(
    id_: str = "turn:1:0", name: str = "find", arguments: str = '{"q":1}', **more: Any
) -> list[ModelMessage]:
    result = ToolMessage(id_, name, more.pop("result", "[]"), more.pop("is_error", False))
    call = ToolRequest(id_, name, arguments, more.pop("extra", None))
    return [AssistantMessage(more.pop("text", ""), (call,), **more), result]


def test_a_conversation_in_the_protocols_words() -> None:
    body = sent(UserMessage("Leave?"), *exchange(), AssistantMessage("Ask HR."), system="Be short.")
    id_ = call_id("turn:1:0")
    assert body["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Leave?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": id_,
                    "type": "function",
                    "function": {"name": "find", "arguments": '{"q":1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": id_, "name": "find", "content": "[]"},
        {"role": "assistant", "content": "Ask HR."},
    ]
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert "tools" not in body


@given(st.text(max_size=60))
def test_a_calls_id_is_nine_letters_or_digits_and_always_the_same(ours: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", call_id(clean(ours)))
    assert call_id(clean(ours)) == call_id(clean(ours))


def test_calls_have_ids_of_their_own() -> None:
    assert len({call_id(f"turn:{n}:0") for n in range(10_000)}) == 10_000


def test_an_error_of_a_tool_is_told_as_one() -> None:
    body = sent(*exchange(result='no "page"', is_error=True))
    assert orjson.loads(body["messages"][1]["content"]) == {"error": 'no "page"'}


def test_two_messages_of_one_side_are_one() -> None:
    body = sent(UserMessage("a"), UserMessage("b"), AssistantMessage("c"), AssistantMessage("d"))
    assert [m["content"] for m in body["messages"]] == ["a\n\nb", "c\n\nd"]
    body = sent(UserMessage("a"), AssistantMessage("b"), *exchange(text="c"))
    assert [m["content"] for m in body["messages"]] == ["a", "b\n\nc", "[]"]
    assert body["messages"][1]["tool_calls"]


def test_calls_of_two_steps_stay_two_messages() -> None:
    body = sent(*exchange("a"), *exchange("b"))
    assert [m["role"] for m in body["messages"]] == ["assistant", "tool"] * 2


def test_a_question_right_after_a_result_is_kept_apart_from_it() -> None:
    body = sent(UserMessage("a"), *exchange(), UserMessage("b"))
    assert [m["role"] for m in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize("arguments", ["", "[1]", "{oops", '"x"'])
def test_arguments_on_the_wire_are_an_object(arguments: str) -> None:
    (call,) = sent(*exchange(arguments=arguments))["messages"][0]["tool_calls"]
    assert call["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("asked", "name"), [("", "unknown"), ("find pages!", "find_pages_"), ("x" * 100, "x" * 64)]
)
def test_a_tool_that_cannot_be_named_has_another_name(asked: str, name: str) -> None:
    messages = sent(*exchange(name=asked))["messages"]
    assert messages[0]["tool_calls"][0]["function"]["name"] == messages[1]["name"] == name


def test_nothing_is_sent_that_cannot_be() -> None:
    bad = "a\0\ud83d b"
    body = sent(
        UserMessage(bad),
        *exchange(text=bad, result=bad, reasoning=bad, reasoning_field="reasoning"),
        system=bad,
        tools=(ToolSpec("find", bad, {}),),
    )
    raw = orjson.dumps(body)  # refuses halves of surrogate pairs
    assert b"\\u0000" not in raw
    assert body["messages"][0]["content"] == "a\ufffd b"


@st.composite
def _conversations(draw: st.DrawFn) -> list[ModelMessage]:
    """What history may hold: every call has its result, in any text."""
    text = st.text(max_size=5) | st.just("\ud83d\0")
    messages: list[ModelMessage] = []
    for step in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            messages.append(UserMessage(draw(text)))
        ids = [f"t:{step}:{n}" for n in range(draw(st.integers(0, 3)))]
        calls = tuple(ToolRequest(id_, draw(text), draw(text)) for id_ in ids)
        messages.append(AssistantMessage(draw(text), calls, draw(text), "reasoning"))
        messages += [ToolMessage(id_, "x", draw(text), draw(st.booleans())) for id_ in ids]
    return messages


@given(_conversations(), st.sampled_from(sorted(DIALECTS)))
def test_a_strict_server_takes_every_conversation(
    messages: list[ModelMessage], driver: str
) -> None:
    body = sent(*messages, UserMessage("x"), system="s", dialect=DIALECTS[driver])
    assert llm_strict.fault(body) is None
    roles = [message["role"] for message in body["messages"]]
    pairs = set(pairwise(roles))
    assert not pairs & {("user", "user"), ("tool", "user"), ("user", "tool"), ("user", "system")}
    assert body == sent(*messages, UserMessage("x"), system="s", dialect=DIALECTS[driver])
    orjson.dumps(body)


def test_a_turns_thoughts_go_back_where_they_are_wanted() -> None:
    messages = exchange(reasoning="hm", reasoning_field="reasoning_content")
    for driver, dialect in DIALECTS.items():
        said = sent(*messages, dialect=dialect)["messages"][0]
        wanted = "hm" if driver in ("ollama", "openai-compatible") else None
        assert said.get("reasoning_content") == wanted, driver


def test_thoughts_without_a_known_name_do_not_go_back() -> None:
    said = sent(*exchange(reasoning="hm", reasoning_field=""))["messages"][0]
    assert said.keys() == {"role", "content", "tool_calls"}


def test_what_a_provider_wants_to_see_again_goes_back_with_its_call() -> None:
    extra = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    for dialect in DIALECTS.values():
        (call,) = sent(*exchange(extra=extra), dialect=dialect)["messages"][0]["tool_calls"]
        assert call["extra_content"] == extra["extra_content"]


def test_each_quirk_changes_the_request() -> None:
    messages = [UserMessage("q"), *exchange(extra={"extra_content": {"a": 1}})]
    thinking = exchange(reasoning="hm", reasoning_field="reasoning")
    tool = ToolSpec("find", "", {"type": "object", "properties": {}, "additionalProperties": False})
    plain = {"max_output_tokens": 9, "system": "s"}

    def with_quirk(quirk: str, *said: ModelMessage, **more: Any) -> dict[str, Any]:
        return sent(*(said or messages), quirks={quirk}, **{**plain, **more})

    assert with_quirk(dialects.OTHER_LIMIT)["max_completion_tokens"] == 9
    assert not with_quirk(dialects.NO_LIMIT).keys() & {"max_tokens", "max_completion_tokens"}
    assert "stream_options" not in with_quirk(dialects.NO_USAGE)
    assert "reasoning" not in with_quirk(dialects.NO_THOUGHTS, *thinking)["messages"][1]
    blank = with_quirk(dialects.BLANK_THOUGHTS)["messages"][2]
    assert blank["reasoning_content"] == " "
    assert "extra_content" not in with_quirk(dialects.NO_EXTRA)["messages"][2]["tool_calls"][0]
    (unsigned,) = with_quirk(dialects.BLANK_SIGNATURES, *thinking)["messages"][1]["tool_calls"]
    assert unsigned["extra_content"]["google"]["thought_signature"]
    assert with_quirk(dialects.TEXT_ALWAYS)["messages"][2]["content"] == ""
    assert "name" not in with_quirk(dialects.NO_RESULT_NAMES)["messages"][3]
    (described,) = with_quirk(dialects.TOOLS_ALWAYS)["tools"]
    assert described["function"]["name"] == "find"
    assert with_quirk(dialects.NO_SYSTEM)["messages"][0] == {"role": "user", "content": "s\n\nq"}
    (cut,) = with_quirk(dialects.PLAIN_SCHEMAS, tools=(tool,))["tools"]
    assert "parameters" not in cut["function"]
