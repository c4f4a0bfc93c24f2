"""A request in the words of the chat-completions protocol. Pure: the same in, the same out."""

import re
from base64 import b32encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import orjson

from shared.core.tunables import WIRE_CALL_ID_CHARS, WIRE_NAME_CHARS
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
from workers.llm.dialects import Dialect
from workers.llm.tool_schemas import plain, rooted

# Some servers refuse a question right after a tool's result: between them stands this.
_UNANSWERED = "(This was not answered.)"
# What Google takes in place of a signature that is not there, from another model for example.
_NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
_BLANK = " "  # where a server wants a text that we do not have; it may refuse an empty one

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")

Wire = dict[str, Any]


def request_body(request: ModelRequest, dialect: Dialect, quirks: set[str]) -> Wire:
    """The body of the POST, for a model that has these quirks (see `dialects`)."""
    body: Wire = {
        "model": request.model,
        "messages": _messages(request, dialect, quirks),
        "stream": True,
    }
    if dialects.NO_USAGE not in quirks:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        cut = dialect.plain_schemas or dialects.PLAIN_SCHEMAS in quirks
        body["tools"] = [_tool(tool, cut=cut) for tool in request.tools]
    elif dialects.TOOLS_ALWAYS in quirks:
        body |= _called_tools(request.messages)
    if request.max_output_tokens is not None and dialects.NO_LIMIT not in quirks:
        body[_limit(dialect, quirks)] = request.max_output_tokens
    return body


def call_id(ours: str) -> str:
    """A call's id on the wire, from the one that we know it by."""
    # Lower case and digits: base 32 of a hash.
    return b32encode(sha256(ours.encode()).digest()).decode()[:WIRE_CALL_ID_CHARS].lower()


def clean(text: str) -> str:
    """Without NUL, and with halves of surrogate pairs replaced: neither can be sent."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _limit(dialect: Dialect, quirks: set[str]) -> str:
    if dialects.OTHER_LIMIT not in quirks:
        return dialect.limit
    return next(name for name in dialects.LIMITS if name != dialect.limit)


def _messages(request: ModelRequest, dialect: Dialect, quirks: set[str]) -> list[Wire]:
    messages: list[Wire] = []
    system = clean(request.system)
    if system and dialects.NO_SYSTEM in quirks:
        messages.append({"role": "user", "content": system})
    elif system:
        messages.append({"role": "system", "content": system})
    for message in request.messages:
        wire = _message(message, dialect, quirks)
        last = messages[-1] if messages else {"role": None}
        if wire["role"] == "user" and last["role"] == "tool":
            last = _assistant(AssistantMessage(_UNANSWERED), dialect, quirks)
            messages.append(last)
        if wire["role"] == last["role"] and wire["role"] != "tool" and "tool_calls" not in last:
            messages[-1] = _joined(last, wire)
        else:
            messages.append(wire)
    return messages


def _message(message: ModelMessage, dialect: Dialect, quirks: set[str]) -> Wire:
    match message:
        case UserMessage(text):
            return {"role": "user", "content": clean(text) or _BLANK}
        case AssistantMessage():
            return _assistant(message, dialect, quirks)
        case ToolMessage(id_, name, content, is_error):
            result = (
                orjson.dumps({"error": clean(content)}).decode() if is_error else clean(content)
            )
            wire: Wire = {"role": "tool", "tool_call_id": call_id(id_)}
            if dialects.NO_RESULT_NAMES not in quirks:
                wire["name"] = _name(name)
            return wire | {"content": result or _BLANK}


def _assistant(message: AssistantMessage, dialect: Dialect, quirks: set[str]) -> Wire:
    text = clean(message.text)
    empty = "" if dialects.TEXT_ALWAYS in quirks else None
    wire: Wire = {"role": "assistant", "content": text or (empty if message.calls else _BLANK)}
    thoughts = dict(_thoughts(message, dialect, quirks))
    calls = [_call(call, quirks) for call in message.calls]
    return wire | thoughts | ({"tool_calls": calls} if calls else {})


def _thoughts(
    message: AssistantMessage, dialect: Dialect, quirks: set[str]
) -> Iterator[tuple[str, str]]:
    """A turn's thoughts under the name that they came under; where every message must have
    some, under the one that such servers use."""
    thoughts = clean(message.reasoning)
    known = message.reasoning_field in dialects.REASONING_FIELDS
    if dialects.BLANK_THOUGHTS in quirks:
        yield dialects.REASONING_FIELDS[0], thoughts or _BLANK
    elif thoughts and known and dialect.thoughts and dialects.NO_THOUGHTS not in quirks:
        yield message.reasoning_field, thoughts


def _call(call: ToolRequest, quirks: set[str]) -> Wire:
    wire: Wire = {
        "id": call_id(call.id),
        "type": "function",
        "function": {"name": _name(call.name), "arguments": _arguments(call.arguments)},
    }
    if call.extra and dialects.NO_EXTRA not in quirks:
        wire |= call.extra
    elif dialects.BLANK_SIGNATURES in quirks:
        wire["extra_content"] = _NO_SIGNATURE
    return wire


def _joined(first: Wire, second: Wire) -> Wire:
    """Two messages of one side as one."""
    texts = [part["content"] for part in (first, second) if (part["content"] or "").strip()]
    return {**first, **second, "content": "\n\n".join(texts) or second["content"]}


def _name(name: str) -> str:
    """A tool's name as it may be sent: a model may have asked for one that cannot be."""
    return _UNFIT.sub("_", name)[:WIRE_NAME_CHARS] or "unknown"


def _arguments(arguments: str) -> str:
    try:
        return arguments if isinstance(orjson.loads(arguments), dict) else "{}"
    except orjson.JSONDecodeError:
        return "{}"


def _tool(tool: ToolSpec, *, cut: bool) -> Wire:
    function: Wire = {"name": tool.name, "description": clean(tool.description)}
    schema = plain(tool.schema) if cut else rooted(tool.schema)
    # Gemini refuses an object without properties: a tool without arguments has no schema then.
    if not cut or schema.get("properties"):
        function["parameters"] = schema
    return {"type": "function", "function": function}


def _called_tools(messages: tuple[ModelMessage, ...]) -> Wire:
    """The tools that were called, for servers that want them described even when no more
    calls are wanted."""
    said = (message for message in messages if isinstance(message, AssistantMessage))
    names = dict.fromkeys(_name(call.name) for message in said for call in message.calls)
    if not names:
        return {}
    tools = [_tool(ToolSpec(name, "", {}), cut=False) for name in names]
    return {"tools": tools, "tool_choice": "none"}
