"""Streams as servers really send them, and what must come of each: one table.

`test_openai_chat` plays it to the driver; whoever has a whole turn can play it to that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from tests.fakes.llm_script import (
    CUT,
    DONE,
    NO_HEAD,
    RESET,
    Reply,
    call,
    chunk,
    data,
    error,
    finish,
    fragment,
    html,
    json_reply,
    reasoning,
    says,
    stream,
    text,
    usage,
)
from workers.llm.base import (
    CallArguments,
    CallEnd,
    CallStart,
    Finished,
    ModelEvent,
    ReasoningPiece,
    TextPiece,
    Usage,
)


@dataclass(frozen=True)
class Said:
    """What an answer came to. `calls` are (name, arguments as text); `error` is the code of the
    ModelError that ended it."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str | None = None
    usage: tuple[int, int] | None = None
    error: str | None = None


def summary(events: Iterable[ModelEvent], error: str | None = None) -> Said:
    """Events as what they say, halves of surrogate pairs joined."""
    said: dict[str, str] = {"text": "", "reasoning": ""}
    calls: dict[int, list[str]] = {}
    ended: list[int] = []
    finish_reason, tokens = None, None
    for event in events:
        match event:
            case TextPiece(piece):
                said["text"] += piece
            case ReasoningPiece(piece):
                said["reasoning"] += piece
            case CallStart(key, name):
                assert key not in calls, "a call begins once"
                calls[key] = [name, ""]
            case CallArguments(key, piece):
                assert key not in ended, "nothing is added to a call that has ended"
                calls[key][1] += piece
            case CallEnd(key):
                ended.append(key)
            case Usage(given, answered):
                tokens = (given, answered)
            case Finished(reason):
                assert finish_reason is None, "an answer ends once"
                finish_reason = reason
    if error is None:
        assert sorted(ended) == sorted(calls), "every call ends"
    return Said(
        text=_joined(said["text"]),
        reasoning=_joined(said["reasoning"]),
        calls=tuple((name, arguments) for name, arguments in calls.values()),
        finish=finish_reason,
        usage=tokens,
        error=error,
    )


def _joined(halves: str) -> str:
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True)
class Odd:
    """`replies` are what the server sends to the requests of one answer, in order; the last
    one is asked for."""

    name: str
    replies: tuple[Reply, ...]
    said: Said


def _one(name: str, *parts: Any, said: Said) -> Odd:
    return Odd(name, (stream(*parts),), said)


_STOP = (finish("stop"), DONE)
_CALLS = (finish("tool_calls"), DONE)
_FIND = '{"query": "leave"}'
_READ = '{"pageId": "p1"}'
_FOUND = Said(calls=(("find", _FIND),), finish="tool-calls")
_BOTH = Said(calls=(("find", _FIND), ("read", _READ)), finish="tool-calls")


def _delta(**fields: Any) -> bytes:
    return data(chunk(fields))


def _raw(delta: str) -> bytes:
    """A delta whose JSON is written by hand."""
    return b'data: {"choices":[{"index":0,"delta":' + delta.encode() + b"}]}\n\n"


def _calls(*fragments: dict[str, Any]) -> bytes:
    """Several entries of `tool_calls` in one delta."""
    return _delta(tool_calls=list(fragments))


def _function(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {**more, "function": {"name": name, "arguments": arguments}}


_TEXT = [
    _one("plain text", text("He", "llo"), *_STOP, said=Said("Hello", finish="stop")),
    _one(
        "half a pair at the end of a delta",
        _raw(r'{"content":"a\ud83d"}'),
        _raw(r'{"content":"\ude00b"}'),
        *_STOP,
        said=Said("a😀b", finish="stop"),
    ),
    _one(
        "half a pair that never meets its other",
        _raw(r'{"content":"a\ud83d"}'),
        text("b"),
        *_STOP,
        said=Said("a\ufffdb", finish="stop"),
    ),
    _one(
        "line and paragraph separators inside JSON",
        text("a\u2028b", "c\u2029d", "e\x85f"),
        *_STOP,
        said=Said("a\u2028bc\u2029de\x85f", finish="stop"),
    ),
    _one(
        "an escaped NUL",
        _raw(r'{"content":"a\u0000b"}'),
        *_STOP,
        said=Said("a\0b", finish="stop"),
    ),
    _one(
        "control characters that JSON does not allow",
        _raw('{"content":"a\tb\x01"}'),
        *_STOP,
        said=Said("a\tb\x01", finish="stop"),
    ),
    _one(
        "bytes that are not UTF-8",
        b'data: {"choices":[{"delta":{"content":"a\xff"}}]}\n\n',
        *_STOP,
        said=Said("a\ufffd", finish="stop"),
    ),
    _one(
        "content as a list of parts",
        _delta(content=[{"type": "text", "text": "He"}, {"type": "text", "text": "llo"}]),
        *_STOP,
        said=Said("Hello", finish="stop"),
    ),
    _one(
        "content null beside an empty one",
        _delta(role="assistant", content=None),
        text("", "x"),
        *_STOP,
        said=Said("x", finish="stop"),
    ),
    _one(
        "a refusal", _delta(refusal="I will not."), *_STOP, said=Said("I will not.", finish="stop")
    ),
    _one(
        "a whole message instead of deltas",
        data({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}),
        DONE,
        said=Said("whole", finish="stop"),
    ),
    _one(
        "a whole message that repeats the deltas",
        text("once"),
        data({"choices": [{"message": {"content": "once"}, "finish_reason": "stop"}]}),
        DONE,
        said=Said("once", finish="stop"),
    ),
    _one(
        "thoughts in tags stay text",
        text("<think>hm</think>", "yes"),
        *_STOP,
        said=Said("<think>hm</think>yes", finish="stop"),
    ),
    _one(
        "another choice is not ours",
        data({"choices": [{"index": 1, "delta": {"content": "no"}}]}),
        text("yes"),
        *_STOP,
        said=Said("yes", finish="stop"),
    ),
]

_THOUGHTS = [
    *(
        _one(
            f"thoughts as {name}",
            reasoning("h", "m", name=name),
            text("yes"),
            *_STOP,
            said=Said("yes", "hm", finish="stop"),
        )
        for name in ("reasoning_content", "reasoning", "reasoning_text")
    ),
    _one(
        "the same thought under two names",
        _delta(reasoning="hm", reasoning_content="hm"),
        text("yes"),
        *_STOP,
        said=Said("yes", "hm", finish="stop"),
    ),
    _one(
        "thoughts as an object",
        _delta(reasoning={"content": "hm"}),
        text("yes"),
        *_STOP,
        said=Said("yes", "hm", finish="stop"),
    ),
    _one(
        "thoughts among the parts of a content",
        _delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
        text("yes"),
        *_STOP,
        said=Said("yes", "hm", finish="stop"),
    ),
]

_ONE_CALL = [
    _one("a call as OpenAI sends it", call("find", _FIND, pieces=4), *_CALLS, said=_FOUND),
    _one(
        "a call without an index",
        fragment(id="c", name="find", arguments='{"query"'),
        fragment(arguments=': "leave"}'),
        *_CALLS,
        said=_FOUND,
    ),
    _one(
        "a call without an id",
        fragment(index=0, name="find", arguments=_FIND),
        *_CALLS,
        said=_FOUND,
    ),
    _one(
        "the name after the arguments",
        fragment(index=0, id="c", arguments=_FIND),
        fragment(index=0, name="find"),
        *_CALLS,
        said=_FOUND,
    ),
    _one(
        "the name in pieces",
        fragment(index=0, id="c", name="fi", arguments=""),
        fragment(index=0, name="nd"),
        fragment(index=0, arguments=_FIND),
        *_CALLS,
        said=_FOUND,
    ),
    _one(
        "the name in every fragment",
        fragment(index=0, id="c", name="find", arguments='{"query"'),
        fragment(index=0, id="c", name="find", arguments=': "leave"}'),
        fragment(index=0, id="c", name="find", arguments=""),
        *_CALLS,
        said=_FOUND,
    ),
    _one(
        "another id in every fragment",
        fragment(index=0, id="c1", name="find", arguments=""),
        fragment(index=0, id="c2", arguments='{"query"'),
        fragment(index=0, id="c3", arguments=': "leave"}'),
        *_CALLS,
        said=_FOUND,
    ),
    _one(
        "arguments as an object",
        fragment(index=0, id="c", name="find", arguments={"query": "leave"}),
        *_CALLS,
        said=Said(calls=(("find", '{"query":"leave"}'),), finish="tool-calls"),
    ),
    *(
        _one(
            f"arguments {what}",
            fragment(index=0, id="c", name="find", **given),
            *_CALLS,
            said=Said(calls=(("find", ""),), finish="tool-calls"),
        )
        for what, given in (
            ("empty", {"arguments": ""}),
            ("null", {"arguments": None}),
            ("missing", {}),
        )
    ),
    _one(
        "a call that never gets a name",
        fragment(index=0, id="c", arguments=_FIND),
        *_CALLS,
        said=Said(calls=(("", _FIND),), finish="tool-calls"),
    ),
    _one(
        "the old function_call",
        _delta(function_call={"name": "find", "arguments": ""}),
        _delta(function_call={"arguments": _FIND}),
        finish("function_call"),
        DONE,
        said=_FOUND,
    ),
    _one(
        "name and arguments beside the id",
        _calls({"index": 0, "id": "c", "name": "find", "arguments": _FIND}),
        *_CALLS,
        said=_FOUND,
    ),
    _one("a call that ends with stop", call("find", _FIND), *_STOP, said=_FOUND),
    _one(
        "a call cut by the output limit",
        text("Let me see."),
        fragment(index=0, id="c", name="find", arguments='{"query": "le'),
        finish("length"),
        DONE,
        said=Said("Let me see.", calls=(("find", '{"query": "le'),), finish="length"),
    ),
    _one(
        "text after a call",
        call("find", _FIND),
        text("Looking."),
        *_CALLS,
        said=Said("Looking.", calls=_FOUND.calls, finish="tool-calls"),
    ),
    _one(
        "fragments that are none",
        _delta(tool_calls=[None, "x"]),
        _delta(tool_calls={}),
        _delta(function_call="x"),
        text("fine"),
        *_STOP,
        said=Said("fine", finish="stop"),
    ),
]

_MANY_CALLS = [
    _one(
        "two calls one after the other",
        call("find", _FIND, index=0, call_id="c1"),
        call("read", _READ, index=1, call_id="c2"),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "two calls interleaved",
        fragment(index=0, id="c1", name="find", arguments=""),
        fragment(index=1, id="c2", name="read", arguments='{"page'),
        fragment(index=0, arguments='{"query"'),
        fragment(index=1, arguments='Id": "p1"}'),
        fragment(index=0, arguments=': "leave"}'),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "two calls interleaved, told apart by id alone",
        fragment(id="c1", name="find", arguments='{"query"'),
        fragment(id="c2", name="read", arguments='{"page'),
        fragment(id="c1", arguments=': "leave"}'),
        fragment(id="c2", arguments='Id": "p1"}'),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "index 0 for every call",
        _calls(_function("find", _FIND, index=0, id="c1")),
        _calls(_function("read", _READ, index=0, id="c2")),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "index 0 and the same id for every call",
        _calls(_function("find", _FIND, index=0, id="c")),
        _calls(_function("read", _READ, index=0, id="c")),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "the same tool twice, neither index nor id",
        _calls(_function("find", _FIND, id="")),
        _calls(_function("find", _FIND, id="")),
        *_CALLS,
        said=Said(calls=(("find", _FIND), ("find", _FIND)), finish="tool-calls"),
    ),
    _one(
        "two calls in one delta, neither index nor id",
        _calls(_function("find", _FIND), _function("read", _READ)),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "one id for two indexes",
        call("find", _FIND, index=0, call_id="c"),
        call("read", _READ, index=1, call_id="c"),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "indexes from 1, and as text",
        fragment(index="1", id="c1", name="find", arguments=_FIND),
        fragment(index="2", id="c2", name="read", arguments=_READ),
        *_CALLS,
        said=_BOTH,
    ),
    _one(
        "whole calls in a whole message",
        data(
            {
                "choices": [
                    {
                        "message": {
                            "content": None,
                            "tool_calls": [
                                _function("find", _FIND, id="c1", type="function"),
                                _function("read", _READ, id="c2", type="function"),
                            ],
                        },
                        "finish_reason": "tool_calls",
                    }
                ]
            }
        ),
        DONE,
        said=_BOTH,
    ),
]


def _counted(name: str, *parts: Any, tokens: tuple[int, int] | None) -> Odd:
    return _one(name, *parts, said=Said("x", finish="stop", usage=tokens))


_USAGE = [
    _counted(
        "tokens in a chunk without choices", text("x"), finish(), usage(7, 3), DONE, tokens=(7, 3)
    ),
    _counted(
        "tokens in every chunk",
        data(chunk({"content": "x"}, usage={"prompt_tokens": 7, "completion_tokens": 1})),
        data(chunk(finish="stop", usage={"prompt_tokens": 7, "completion_tokens": 3})),
        DONE,
        tokens=(7, 3),
    ),
    _counted(
        "tokens under x_groq",
        text("x"),
        data(chunk(finish="stop", x_groq={"usage": {"prompt_tokens": 7, "completion_tokens": 3}})),
        DONE,
        tokens=(7, 3),
    ),
    _counted(
        "tokens inside the choice",
        text("x"),
        data(
            {
                "choices": [
                    {
                        "delta": {},
                        "finish_reason": "stop",
                        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
                    }
                ]
            }
        ),
        DONE,
        tokens=(7, 3),
    ),
    _counted(
        "a part of the tokens",
        text("x"),
        data(chunk(finish="stop", usage={"completion_tokens": 3})),
        DONE,
        tokens=(0, 3),
    ),
    _counted(
        "thoughts in the total alone",
        text("x"),
        data(
            chunk(
                finish="stop",
                usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 50},
            )
        ),
        DONE,
        tokens=(7, 43),
    ),
    _counted(
        "tokens null, or none at all",
        data(chunk({"content": "x"}, usage=None)),
        data(chunk(finish="stop", usage={"prompt_tokens": None})),
        DONE,
        tokens=None,
    ),
    _counted(
        "choices null beside the tokens",
        text("x"),
        finish(),
        data({"choices": None, "usage": {"prompt_tokens": 7, "completion_tokens": 3}}),
        DONE,
        tokens=(7, 3),
    ),
]

_REASONS = [
    _one(f"the reason {given}", text("x"), finish(given), DONE, said=Said("x", finish=reason))
    for given, reason in (
        ("stop", "stop"),
        ("STOP", "stop"),
        ("end_turn", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("content_filter", "content-filter"),
        ("SAFETY", "content-filter"),
        ("abort", "other"),
    )
]

_FRAMES = [
    Odd(
        "lines that end with a return",
        (Reply(body=[frame.replace(b"\n", b"\r") for frame in [*text("a", "b"), *_STOP]]),),
        Said("ab", finish="stop"),
    ),
    Odd(
        "lines that end with both, cut between them",
        (
            Reply(
                body=[
                    piece
                    for frame in [*text("a", "b"), *_STOP]
                    for piece in (frame[:-2] + b"\r", b"\n\r", b"\n")
                ]
            ),
        ),
        Said("ab", finish="stop"),
    ),
    _one(
        "a byte at a time",
        [bytes([byte]) for byte in b"".join([*text("é😀"), *_STOP])],
        said=Said("é😀", finish="stop"),
    ),
    _one(
        "comments, ids and event names",
        b": processing\n\n",
        b"event: message\nid: 1\nretry: 5\n" + text("x")[0],
        b'event: ping\ndata: {"type": "ping"}\n\n',
        *_STOP,
        said=Said("x", finish="stop"),
    ),
    _one(
        "a value over several data lines",
        b'data: {"choices": [{"delta":\ndata:  {"content": "x"}}]}\n\n',
        *_STOP,
        said=Said("x", finish="stop"),
    ),
    _one(
        "no blank line between events",
        *(frame[:-1] for frame in [*text("a", "b"), finish("stop")]),
        b"\n",
        DONE,
        said=Said("ab", finish="stop"),
    ),
    _one(
        "a byte order mark, no space after the colon, no end of the last line",
        b"\xef\xbb\xbf",
        text("x")[0].replace(b"data: ", b"data:"),
        finish("stop").rstrip(),
        said=Said("x", finish="stop"),
    ),
    _one(
        "something after the end",
        text("x"),
        *_STOP,
        text("more"),
        said=Said("x", finish="stop"),
    ),
    Odd(
        "an answer that is not streamed",
        (
            json_reply(
                {
                    "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
                }
            ),
        ),
        Said("whole", finish="stop", usage=(7, 3)),
    ),
    Odd(
        "a value on each line",
        (
            Reply(
                body=[
                    orjson.dumps(chunk({"content": "a"})) + b"\n",
                    orjson.dumps(chunk({"content": "b"}, finish="stop")) + b"\n",
                ],
                content_type="application/x-ndjson",
            ),
        ),
        Said("ab", finish="stop"),
    ),
]

_ENDS = [
    _one("no reason but an end", text("x"), DONE, said=Said("x", finish="stop")),
    _one("no reason but an end, and a call", call("find", _FIND), DONE, said=_FOUND),
    _one("a reason but no end", text("x"), finish("stop"), said=Said("x", finish="stop")),
    _one(
        "a reset after the reason",
        text("x"),
        finish("stop"),
        RESET,
        said=Said("x", finish="stop"),
    ),
    _one("neither reason nor end, but a whole call", call("find", _FIND), said=_FOUND),
    _one(
        "neither reason nor end, and half a call",
        text("Let me see."),
        fragment(index=0, id="c", name="find", arguments='{"query"'),
        said=Said("Let me see.", calls=(("find", '{"query"'),), error="provider_network"),
    ),
    _one("neither reason nor end", text("x"), said=Said("x", error="provider_network")),
    _one("a reset in mid-stream", text("x"), RESET, said=Said("x", error="provider_network")),
    _one(
        "a connection closed in mid-stream",
        text("x"),
        CUT,
        said=Said("x", error="provider_network"),
    ),
    _one(
        "an error in mid-stream",
        text("x"),
        data({"error": {"message": "Upstream failed", "code": 502}}),
        said=Said("x", error="provider_error"),
    ),
    _one(
        "an error in mid-stream, after tokens were counted",
        data(chunk({"content": "x"}, usage={"prompt_tokens": 7, "completion_tokens": 1})),
        data({"error": "out of memory"}),
        said=Said("x", usage=(7, 1), error="provider_error"),
    ),
    _one(
        "an error in mid-stream under a field of its own",
        text("x"),
        b'error: {"code": 500, "message": "slot failed"}\n\n',
        said=Said("x", error="provider_error"),
    ),
    _one(
        "an error told as the reason",
        text("x"),
        finish("error"),
        said=Said("x", error="provider_error"),
    ),
    _one(
        "garbage in mid-stream",
        text("x"),
        data("{oops"),
        said=Said("x", error="provider_bad_response"),
    ),
    _one(
        "HTML in mid-stream",
        text("x"),
        data("<html><title>502 Bad Gateway</title></html>"),
        said=Said("x", error="provider_bad_response"),
    ),
    _one(
        "an error as the first event",
        data({"error": {"message": "Invalid API key", "type": "authentication_error"}}),
        said=Said(error="provider_auth"),
    ),
    Odd(
        "an error as the whole body of a 200",
        (json_reply({"error": {"message": "The model `m` does not exist"}}),),
        Said(error="model_not_found"),
    ),
    Odd(
        "an error in a list as the whole body",
        (json_reply([{"error": {"code": 400, "message": "API key not valid"}}]),),
        Said(error="provider_auth"),
    ),
    Odd(
        "HTML in a 200",
        (html(200, "<html><head><title>Sign in</title></head></html>"),),
        Said(error="provider_bad_response"),
    ),
    Odd(
        "garbage in a 200",
        (Reply(body=[b"upstream connect error"], content_type="text/plain"),),
        Said(error="provider_bad_response"),
    ),
    Odd(
        "JSON that is no answer",
        (json_reply({"hello": "world"}), json_reply("hello")),
        Said(error="provider_bad_response"),
    ),
    Odd("an empty body, twice", (stream(), stream()), Said(error="provider_bad_response")),
    Odd(
        "an empty body, then an answer",
        (stream(), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd(
        "nothing said, twice",
        (stream(_STOP), stream(_STOP)),
        Said(error="provider_bad_response"),
    ),
    Odd(
        "nothing said, then an answer",
        (stream(_STOP), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    _one(
        "nothing said for the filter",
        finish("content_filter"),
        DONE,
        said=Said(error="content_filter"),
    ),
    _one(
        "nothing said for the limit",
        finish("length"),
        DONE,
        said=Said(error="provider_bad_response"),
    ),
    Odd(
        "an overload as the first event, then an answer",
        (
            stream(data({"error": {"type": "overloaded_error", "message": "Overloaded"}})),
            says("x"),
        ),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd(
        "a reset before the first byte, then an answer",
        (Reply(NO_HEAD, [RESET]), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd(
        "a reset after the headers, then an answer",
        (stream(RESET), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd(
        "a reset before every first byte",
        (Reply(NO_HEAD, [RESET]),) * 3,
        Said(error="provider_network"),
    ),
    Odd(
        "overloaded twice, then an answer",
        (error(529, "Overloaded"), error(529, "Overloaded"), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd("busy for good", (error(503, "Busy"),) * 4, Said(error="provider_overloaded")),
]

_BUSY = "Slow down"
_STATUSES = [
    Odd("401", (error(401, "Incorrect API key"),), Said(error="provider_auth")),
    Odd("403", (error(403, "Not for you"),), Said(error="provider_auth")),
    Odd("402", (error(402, "Insufficient balance"),), Said(error="provider_quota")),
    Odd(
        "429 for a quota that is used up",
        (error(429, "You exceeded your current quota", code="insufficient_quota"),),
        Said(error="provider_quota"),
    ),
    Odd(
        "429 with Retry-After in seconds, then an answer",
        (error(429, _BUSY, {"retry-after": "0"}), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd(
        "429 with Retry-After as a date, then an answer",
        (error(429, _BUSY, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd(
        "429 with a Retry-After that nobody waits for",
        (error(429, _BUSY, {"retry-after": "3600"}),),
        Said(error="provider_rate_limit"),
    ),
    Odd(
        "429 with a date that nobody waits for",
        (error(429, _BUSY, {"retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"}),),
        Said(error="provider_rate_limit"),
    ),
    Odd(
        "500, then an answer",
        (error(500, "Internal error"), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd("500 for good", (error(500, "Internal error"),) * 4, Said(error="provider_error")),
    Odd("529 for good", (error(529, "Overloaded"),) * 4, Said(error="provider_overloaded")),
    Odd(
        "HTML with a 502, then an answer",
        (html(502, "<html><title>Bad gateway</title></html>"), says("x")),
        Said("x", finish="stop", usage=(10, 1)),
    ),
    Odd("400 for a reason of its own", (error(400, "No"),), Said(error="provider_error")),
    Odd(
        "404 about the model",
        (error(404, "The model `m` does not exist", code="model_not_found"),),
        Said(error="model_not_found"),
    ),
    Odd(
        "400 about tools",
        (error(400, "m does not support tools"),),
        Said(error="tools_unsupported"),
    ),
    Odd(
        "silence after some words",
        (stream(text("x"), 60.0),),
        Said("x", error="provider_timeout"),
    ),
]

ODD_STREAMS = [
    *_TEXT,
    *_THOUGHTS,
    *_ONE_CALL,
    *_MANY_CALLS,
    *_USAGE,
    *_REASONS,
    *_FRAMES,
    *_ENDS,
    *_STATUSES,
]
