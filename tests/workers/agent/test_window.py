"""Fitting a conversation into a window: what goes, what stays, and that pairs stay pairs."""

import json
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.agent import window
from workers.agent.history import Exchange, Past
from workers.llm.base import (
    AssistantMessage,
    ContextTooLongError,
    ModelMessage,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)


def exchange(number: int, *, words: int = 50, result: int = 0) -> Exchange:
    """A question and its answer; with `result` characters of a tool's output between."""
    messages: list[ModelMessage] = [UserMessage(f"Question {number} " + "why " * words)]
    if result:
        call = ToolRequest(f"call_{number}", "getPage", '{"pageId":"x"}')
        messages.append(AssistantMessage("", (call,)))
        messages.append(ToolMessage(call.id, "getPage", "page " * (result // 5)))
    messages.append(AssistantMessage(f"Answer {number} " + "because " * words))
    return Exchange(UUID(int=number), tuple(messages))


def past(*exchanges: Exchange, summary: str | None = None) -> Past:
    return Past(summary, exchanges, (UserMessage("And now?"),))


def unpaired(messages: tuple[ModelMessage, ...]) -> list[str]:
    """Calls without an outcome, and outcomes without a call."""
    wrong, asked = [], set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            asked |= {call.id for call in message.calls}
        elif isinstance(message, ToolMessage):
            if message.call_id not in asked:
                wrong.append(message.call_id)
            asked.discard(message.call_id)
    return wrong + sorted(asked)


def test_a_short_conversation_is_told_whole() -> None:
    planned = window.plan(past(exchange(1), exchange(2)), [], 10_000)
    assert planned.dropped == ()
    assert [m.text for m in planned.messages if isinstance(m, UserMessage)][-1] == "And now?"
    assert len(planned.messages) == 5


def test_long_results_of_earlier_exchanges_are_cut_and_say_so() -> None:
    planned = window.plan(past(exchange(1, result=50_000)), [], 100_000)
    (result,) = (m for m in planned.messages if isinstance(m, ToolMessage))
    assert len(result.content) < 2_200
    assert "more characters" in result.content


def test_results_of_this_turn_stay_whole_while_they_fit() -> None:
    current = exchange(9, result=50_000).messages[1:3]
    planned = window.plan(past(exchange(1)), current, 100_000)
    assert planned.messages[-1] == current[-1]


def test_the_oldest_exchanges_go_first_and_the_rest_keeps_its_order() -> None:
    exchanges = [exchange(number) for number in range(40)]
    planned = window.plan(past(*exchanges), [], 2_000)
    assert window.size(planned.messages) <= 2_000
    kept = [m.text for m in planned.messages if isinstance(m, AssistantMessage)]
    assert kept == [f"Answer {n} " + "because " * 50 for n in range(40 - len(kept), 40)]
    assert [e.last_id.int for e in planned.dropped] == list(range(40 - len(kept)))
    assert isinstance(planned.messages[0], UserMessage)
    assert "left out" in planned.messages[0].text


def test_when_something_must_go_enough_goes_for_several_turns() -> None:
    exchanges = [exchange(number) for number in range(40)]
    planned = window.plan(past(*exchanges), [], 2_000)
    assert window.size(planned.messages) < 1_300


def test_a_summary_stands_before_what_is_kept() -> None:
    planned = window.plan(past(exchange(1), summary="They spoke of leave."), [], 10_000)
    first = planned.messages[0]
    assert isinstance(first, UserMessage)
    assert "They spoke of leave." in first.text


def test_this_turns_results_are_cut_when_nothing_else_helps() -> None:
    current: list[ModelMessage] = []
    for number in range(6):
        current += exchange(number, result=20_000).messages[1:3]
    planned = window.plan(past(), current, 4_000)
    assert window.size(planned.messages) <= 4_000
    assert unpaired(planned.messages) == []


def test_long_arguments_of_earlier_calls_are_cut_and_stay_json() -> None:
    call = ToolRequest("c", "createPage", json.dumps({"content": "word " * 5_000}))
    earlier = Exchange(
        UUID(int=1),
        (UserMessage("Q"), AssistantMessage("", (call,)), ToolMessage("c", "createPage", "{}")),
    )
    planned = window.plan(past(earlier), [], 50_000)
    (told,) = (m for m in planned.messages if isinstance(m, AssistantMessage))
    assert len(told.calls[0].arguments) < 2_200
    assert "more characters" in json.loads(told.calls[0].arguments)["cut"]
    assert unpaired(planned.messages) == []


def test_too_much_asked_for_at_once_is_not_the_persons_fault() -> None:
    calls = tuple(ToolRequest(f"c{n}", "getPage", "{}") for n in range(64))
    results = [ToolMessage(call.id, "getPage", "page " * 10_000) for call in calls]
    with pytest.raises(ContextTooLongError, match="asked for more at once"):
        window.plan(past(), [AssistantMessage("", calls), *results], 2_000)


def test_a_question_longer_than_the_window_is_an_error_in_words() -> None:
    huge = Past(None, (), (UserMessage("word " * 10_000),))
    with pytest.raises(ContextTooLongError, match="longer than the model can read"):
        window.plan(huge, [], 2_000)


def test_the_room_is_what_frame_tools_and_answer_leave() -> None:
    tool = ToolSpec("getPage", "Read a page.", {"type": "object", "properties": {}})
    assert window.room(8_000) == 6_000
    assert window.room(200_000) == 200_000 - 4_096
    assert window.fixed("frame " * 100, (tool,)) > window.fixed("frame " * 100, ()) > 100


def test_text_that_cannot_be_encoded_is_counted_all_the_same() -> None:
    assert window.tokens(["half a pair \ud83d"]) > 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 300), st.sampled_from([0, 100, 5_000, 60_000])), max_size=12),
    st.lists(st.sampled_from([100, 5_000, 60_000]), max_size=4),
    st.integers(1_500, 40_000),
)
def test_whatever_the_sizes_it_fits_and_no_pair_is_torn(
    before: list[tuple[int, int]], results: list[int], budget: int
) -> None:
    exchanges = [exchange(n, words=w, result=r) for n, (w, r) in enumerate(before)]
    current: list[ModelMessage] = []
    for number, result in enumerate(results):
        current += exchange(100 + number, result=result).messages[1:3]
    planned = window.plan(past(*exchanges), current, budget)
    assert window.size(planned.messages) <= budget
    assert unpaired(planned.messages) == []
    assert any(m == UserMessage("And now?") for m in planned.messages)
    assert sum(isinstance(m, ToolMessage) for m in planned.messages) >= len(results)
