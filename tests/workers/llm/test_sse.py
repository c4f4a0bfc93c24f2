"""Server-sent events from bytes: where the pieces are cut changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.llm.json_text import loads
from workers.llm.sse import EventTooLongError, SseDecoder

# What naive readers take for line ends, halves of UTF-8 sequences, and nothing special.
_VALUE = st.text(
    st.sampled_from("ab:{}\u2028\u2029\x85\x0b\x0c\x1c\x00é😀\ufeff "), max_size=12
).filter(lambda value: not value.startswith(" "))
_EVENTS = st.lists(st.lists(_VALUE, min_size=1, max_size=3), max_size=6)
_END = st.sampled_from(["\n", "\r\n", "\r"])
_NOISE = st.sampled_from(["", ": comment", "event: x", "id: 1", "retry: 5", "data-like: y"])


@st.composite
def _streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream with any line ends and noise, and the payloads that it holds."""
    events = draw(_EVENTS)
    raw = draw(st.sampled_from(["", "\ufeff"]))
    for values in events:
        if noise := draw(_NOISE):
            raw += noise + draw(_END)
        for value in values:
            raw += f"data:{draw(st.sampled_from(['', ' ']))}{value}" + draw(_END)
        # \r before \n is one end, not two: an empty line must not begin so.
        raw += "\n\n" if not raw.endswith("\r") else "\r\r"
    return raw.encode(), ["\n".join(values).encode() for values in events]


@st.composite
def _cut(draw: st.DrawFn, raw: bytes) -> list[bytes]:
    places = sorted(draw(st.sets(st.integers(0, len(raw)), max_size=12)))
    return [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]


def decoded(pieces: list[bytes]) -> list[bytes]:
    decoder = SseDecoder()
    payloads = [payload for piece in pieces for payload in decoder.feed(piece)]
    return payloads + decoder.end()


@given(st.data())
def test_any_cut_gives_the_payloads(data: st.DataObject) -> None:
    raw, expected = data.draw(_streams())
    assert decoded(data.draw(_cut(raw))) == expected
    assert decoded([bytes([byte]) for byte in raw]) == expected


def test_the_last_event_needs_no_blank_line_and_no_line_end() -> None:
    assert decoded([b"data: a\n"]) == [b"a"]
    assert decoded([b"data: a"]) == [b"a"]
    assert decoded([b"data"]) == []


def test_a_stream_without_events_has_no_payloads() -> None:
    assert decoded([]) == decoded([b"\n\n: x\n\nevent: y\n\n"]) == []


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 200, b"data:\n" * 200])
def test_an_event_that_is_too_long_is_refused(piece: bytes) -> None:
    decoder = SseDecoder(max_bytes=100)
    with pytest.raises(EventTooLongError):
        for byte in piece:
            decoder.feed(bytes([byte]))


def test_events_that_are_not_too_long_may_be_many() -> None:
    decoder = SseDecoder(max_bytes=100)
    assert len(decoder.feed(b"data: 0123456789\n\n" * 1000)) == 1000


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a":"\ud83d\ude00"}', "😀"),
        (rb'{"a":"\ud83d"}', "\ud83d"),
        (rb'{"a":"\ude00"}', "\ude00"),
        (b'{"a":"\xff"}', "\ufffd"),
        (b'{"a":"\n\x01"}', "\n\x01"),
        ('{"a":"\u2028\x85"}'.encode(), "\u2028\x85"),
    ],
)
def test_what_is_not_quite_json_is_read(raw: bytes, value: str) -> None:
    assert loads(raw) == {"a": value}


@pytest.mark.parametrize("raw", [b"", b"{", b"x", b"[" * 100_000])
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the promise is just this
        loads(raw)
