"""An answer read piece by piece: nothing that was said is lost, and no bytes are too odd."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.llm_script import DONE, chunk, data, finish, fragment, text, usage
from tests.workers.llm.odd_streams import ODD_STREAMS, Odd, summary
from workers.llm.answer import Answer
from workers.llm.base import ModelEvent, TextPiece, Usage

_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_FIELDS = (
    *("choices", "delta", "message", "content", "reasoning", "reasoning_content", "refusal"),
    *("tool_calls", "function_call", "function", "name", "arguments", "id", "index", "type"),
    *("finish_reason", "usage", "prompt_tokens", "completion_tokens", "total_tokens", "x_groq"),
    *("error", "code", "status", "metadata", "raw", "details", "extra_content", "text", "loc"),
)
_LIKE_CHUNKS = st.recursive(
    _ANY,
    lambda inner: (
        st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=4) | st.lists(inner, max_size=2)
    ),
    max_leaves=20,
)
_WHOLE_FRAMES = [
    *text("a", "b"),
    fragment(index=0, id="c", name="find", arguments='{"a":1}'),
    fragment(index=0, arguments="x"),
    finish(),
    usage(),
    DONE,
    data({"error": {"message": "x"}}),
]


def read(*pieces: bytes) -> tuple[list[ModelEvent], str | None]:
    answer = Answer()
    events: list[ModelEvent] = []
    for piece in pieces:
        events += answer.feed(piece)
        if answer.fault is not None:
            break
    else:
        events += answer.end()
    if answer.fault is None:
        return events, None
    return events + answer.usage(), answer.fault.error.code


@given(
    st.lists(_LIKE_CHUNKS | st.fixed_dictionaries({"choices": st.lists(_LIKE_CHUNKS)}), max_size=4)
)
def test_any_json_is_an_answer_or_a_fault(values: list[Any]) -> None:
    read(*(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values))
    for value in values:
        read(json.dumps(value).encode())


@given(st.lists(st.binary(max_size=20) | st.sampled_from(_WHOLE_FRAMES), max_size=8))
def test_any_bytes_are_an_answer_or_a_fault(pieces: list[bytes]) -> None:
    read(*pieces)


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [{"delta": {"content": 0}}]},
        '{"choices":[{"delta":{"content":' + "[" * 900 + "]" * 900 + "}}]}",
        '{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":'
        + "[" * 900
        + "]" * 900
        + "}}]}}]}",
        '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"a","arguments":{"a":"\\ud83d"}}}]}}]}',
        '{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":Infinity}}',
        '{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":NaN}}',
        '{"error":' + "[" * 900 + "]" * 900 + "}",
    ],
)
def test_hostile_values_are_an_answer_or_a_fault(value: Any) -> None:
    read(data(value), DONE)


@pytest.mark.parametrize(
    "bad",
    [data({"error": {"message": "Upstream failed"}}), data("{oops"), data("5")],
    ids=["an error", "garbage", "a number"],
)
def test_what_was_said_in_the_same_piece_as_a_fault_is_not_lost(bad: bytes) -> None:
    events, code = read(b"".join(text("a", "b")) + bad)
    assert events == [TextPiece("a"), TextPiece("b")]
    assert code is not None


def test_what_was_said_in_the_last_piece_of_a_broken_stream_is_not_lost() -> None:
    events, code = read(text("a")[0].rstrip())
    assert events == [TextPiece("a")]
    assert code == "provider_network"


def test_tokens_are_told_of_an_answer_that_fails_only_if_it_said_something() -> None:
    tokens = {"prompt_tokens": 7, "completion_tokens": 1}
    said, silent = Answer(), Answer()
    said.feed(data(chunk({"content": "x"}, usage=tokens)))
    silent.feed(data(chunk({}, usage=tokens)))
    assert said.usage() == [Usage(7, 1)]
    assert silent.usage() == []


def test_absurd_counts_of_tokens_are_bounded() -> None:
    tokens = {"prompt_tokens": 10**18, "completion_tokens": -5}
    events, _ = read(data(chunk({"content": "x"}, finish="stop", usage=tokens)))
    assert Usage(2**31 - 1, 0) in events


def whole(odd: Odd) -> bool:
    """Whether it is one body, without a cut, a reset or silence."""
    (first, *more) = odd.replies
    return not more and all(isinstance(part, bytes) for part in first.body) and first.status == 200


@pytest.mark.parametrize("odd", [*filter(whole, ODD_STREAMS)], ids=lambda odd: odd.name)
def test_an_odd_stream_says_the_same_in_one_piece(odd: Odd) -> None:
    """How the network cuts a stream is nobody's choice."""
    events, code = read(b"".join(part for part in odd.replies[0].body if isinstance(part, bytes)))
    assert summary(events, code) == odd.said
