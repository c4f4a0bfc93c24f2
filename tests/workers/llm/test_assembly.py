"""From chunks to events. The table of odd fragments is in `odd_streams`."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.workers.llm.odd_streams import summary
from workers.llm.assembly import Assembly
from workers.llm.base import CallEnd, CallStart, Finished, ModelEvent, ReasoningPiece, TextPiece

_TEXT = st.text(max_size=8)
_ARGUMENTS = st.dictionaries(_TEXT, _TEXT | st.integers() | st.lists(_TEXT, max_size=2), max_size=3)


def played(*deltas: dict[str, Any], reason: str = "stop") -> list[ModelEvent]:
    assembly = Assembly()
    events: list[ModelEvent] = []
    for delta in deltas:
        events += assembly.feed({"choices": [{"index": 0, "delta": delta}]})
    return events + assembly.end(reason)


def fragments(*pieces: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(pieces)}


@st.composite
def _call(draw: st.DrawFn, index: int) -> tuple[tuple[str, str], list[dict[str, Any]]]:
    """A call, and its fragments: the arguments cut anywhere, the name in the first."""
    name = draw(st.sampled_from(["find", "read", "a"]))
    arguments = json.dumps(draw(_ARGUMENTS))
    places = sorted(draw(st.sets(st.integers(0, len(arguments)), max_size=5)))
    cuts = zip([0, *places], [*places, len(arguments)], strict=True)
    pieces = [
        {"index": index, "function": {"arguments": arguments[start:end]}} for start, end in cuts
    ]
    pieces[0] |= {"id": f"call_{index}", "type": "function"}
    pieces[0]["function"]["name"] = name
    if draw(st.booleans()):  # the id in every fragment
        pieces = [piece | {"id": f"call_{index}"} for piece in pieces]
    return (name, arguments), pieces


@given(st.data())
def test_any_interleaving_of_the_fragments_of_calls_gives_the_calls(data: st.DataObject) -> None:
    calls = [data.draw(_call(index)) for index in range(data.draw(st.integers(1, 4)))]
    # Their first fragments in order, everything else in any.
    left = [list(pieces) for _, pieces in calls]
    sent = [pieces.pop(0) for pieces in left]
    while any(left):
        chosen = data.draw(st.sampled_from([pieces for pieces in left if pieces]))
        sent.append(chosen.pop(0))
    deltas, at = [], 0
    while at < len(sent):
        size = data.draw(st.integers(1, 3))
        deltas.append(fragments(*sent[at : at + size]))
        at += size
    said = summary(played(*deltas))
    assert said.calls == tuple(call for call, _ in calls)
    assert said.finish == "tool-calls"


@given(st.lists(st.integers(0, 0x10FFFF).map(chr), max_size=12), st.data())
def test_text_arrives_whole_wherever_its_pairs_are_cut(
    characters: list[str], data: st.DataObject
) -> None:
    text = "".join(characters).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    units = text.encode("utf-16-be")
    halves = [
        units[at : at + 2].decode("utf-16-be", "surrogatepass") for at in range(0, len(units), 2)
    ]
    pieces: list[str] = []
    for half in halves:
        if pieces and data.draw(st.booleans()):
            pieces[-1] += half
        else:
            pieces.append(half)
    assert summary(played(*({"content": piece} for piece in pieces))).text == text


def test_what_the_provider_wants_to_see_again_comes_with_the_calls_end() -> None:
    signed = {"google": {"thought_signature": "c2lnbmVk"}}
    events = played(
        fragments({"index": 0, "id": "c", "function": {"name": "find", "arguments": "{}"}}),
        fragments({"index": 0, "extra_content": signed}),
    )
    assert [e for e in events if isinstance(e, CallEnd)] == [CallEnd(0, {"extra_content": signed})]


def test_nothing_is_kept_of_it_that_cannot_be_stored() -> None:
    for bad in ({"a": "\0"}, {"a": "\ud83d"}, {"a": "x" * 1_000_000}, {"a": {1, 2}}):
        call = {"index": 0, "function": {"name": "find"}, "extra_content": bad}
        assert CallEnd(0, None) in played(fragments(call))


def test_a_call_is_whole_before_the_text_after_it() -> None:
    events = played(
        fragments({"index": 0, "function": {"name": "find", "arguments": "{}"}}), {"content": "x"}
    )
    kinds = [type(event) for event in events]
    assert kinds.index(CallEnd) < kinds.index(TextPiece)


def test_thoughts_keep_the_name_that_they_came_under() -> None:
    (piece, *_) = played({"reasoning": "hm"})
    assert piece == ReasoningPiece("hm", "reasoning")
    (piece, *_) = played({"reasoning": {"text": "hm"}})
    assert piece == ReasoningPiece("hm", "")


def test_a_limit_in_the_middle_of_a_call_stays_a_limit() -> None:
    call = {"index": 0, "function": {"name": "find", "arguments": '{"a'}}
    assert played(fragments(call), reason="length")[-1] == Finished("length")


def test_a_call_begins_with_its_first_arguments_not_with_its_end() -> None:
    assembly = Assembly()
    call = {"index": 0, "id": "c", "function": {"name": "find", "arguments": ""}}
    assert assembly.feed({"choices": [{"delta": fragments(call)}]}) == []
    more = {"index": 0, "function": {"arguments": "{"}}
    (start, _) = assembly.feed({"choices": [{"delta": fragments(more)}]})
    assert start == CallStart(0, "find")


def test_chunks_that_are_nothing_like_it_say_nothing() -> None:
    assembly = Assembly()
    odd: list[Any] = [{}, {"choices": "x"}, {"choices": [None]}, {"choices": [{"delta": []}]}]
    odd += [{"choices": [{"delta": {"content": 5}}]}, {"usage": "x"}, {"usage": {"a": 1}}]
    assert [event for chunk in odd for event in assembly.feed(chunk)] == []
    assert not assembly.said
