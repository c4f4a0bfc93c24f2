"""What each provider's public documentation demands of a request, as a server that checks it."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import orjson

from tests.fakes import llm_strict
from tests.workers.llm.test_tool_schemas import ALLOWED, keywords

Body = dict[str, Any]

_TOP = {"model", "messages", "stream", "stream_options", "tools", "tool_choice"}
_LIMITS = {"max_tokens", "max_completion_tokens"}
_CALL = {"id", "type", "function"}
_MESSAGE = {"role", "content", "tool_calls", "tool_call_id", "name"}


def _steps(body: Body) -> list[Body]:
    return [message for message in body["messages"] if message.get("tool_calls")]


def _anywhere(body: Body) -> str | None:
    """What holds for every server: pairs, names, arguments, a schema that is an object."""
    if why := llm_strict.fault(body):
        return why
    for tool in body.get("tools", []):
        function = tool["function"]
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]):
            return f"tool name {function['name']!r}"
        if function.get("parameters", {"type": "object"})["type"] != "object":
            return "parameters must be an object"
    names = {call["id"]: call["function"]["name"] for m in _steps(body) for call in m["tool_calls"]}
    for message in body["messages"]:
        if message["role"] == "tool" and message.get("name") != names[message["tool_call_id"]]:
            return "a result must name its tool"
        for call in message.get("tool_calls", []):
            if not isinstance(orjson.loads(call["function"]["arguments"]), dict):
                return "arguments must be an object"
    return None


def _only(body: Body, *, top: set[str], message: set[str], call: set[str]) -> str | None:
    unknown = body.keys() - top
    for said in body["messages"]:
        unknown |= said.keys() - message
        for made in said.get("tool_calls", []):
            unknown |= made.keys() - call
    return f"unknown fields: {', '.join(sorted(unknown))}" if unknown else None


def openai(body: Body) -> str | None:
    """Newer models: `max_completion_tokens` only; no fields of others."""
    top = _TOP | {"max_completion_tokens"}
    return _anywhere(body) or _only(body, top=top, message=_MESSAGE, call=_CALL)


def anthropic(body: Body) -> str | None:
    """One system message, at the beginning; texts that are not empty; others' fields are
    ignored, so that there is nothing to refuse."""
    if any(message["role"] == "system" for message in body["messages"][1:]):
        return "system messages come first"
    for message in body["messages"]:
        if message.get("content") is not None and not message["content"].strip():
            return "text content blocks must be non-empty"
    return _anywhere(body)


def gemini(body: Body) -> str | None:
    """Unknown names are refused, in schemas too; in the turn that is going on, the first call
    of each step must carry its signature."""
    for tool in body.get("tools", []):
        if bad := keywords(tool["function"].get("parameters", {})) - ALLOWED:
            return f"Unknown name {sorted(bad)[0]}: Cannot find field."
    last_question = max(
        n for n, message in enumerate(body["messages"]) if message["role"] == "user"
    )
    for message in body["messages"][last_question:]:
        calls = message.get("tool_calls")
        if calls and "thought_signature" not in calls[0].get("extra_content", {}).get("google", {}):
            return "Function call is missing a thought_signature in functionCall parts."
    call = _CALL | {"extra_content"}
    return _anywhere(body) or _only(body, top=_TOP | _LIMITS, message=_MESSAGE, call=call)


def ollama(body: Body) -> str | None:
    """Content is a text, and may be missing beside calls only; the limit is `max_tokens`."""
    if "max_completion_tokens" in body:
        return "max_completion_tokens is not known"
    for message in body["messages"]:
        if not isinstance(message["content"], str) and not message.get("tool_calls"):
            return "invalid message content type"
    return _anywhere(body)


def deepseek(body: Body) -> str | None:
    """Thinking, with tools: every assistant message brings its reasoning_content back."""
    for message in body["messages"]:
        if message["role"] == "assistant" and not message.get("reasoning_content"):
            return "The `reasoning_content` in the thinking mode must be passed back to the API."
    return _anywhere(body)


def mistral(body: Body) -> str | None:
    """Ids of nine letters and digits; no question right after a result."""
    for message in _steps(body):
        for call in message["tool_calls"]:
            if not re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]):
                return f"Tool call id was {call['id']} but must be 9 letters or digits"
    roles = [message["role"] for message in body["messages"]]
    if ("tool", "user") in pairwise(roles):
        return "Unexpected role 'user' after role 'tool'"
    return _anywhere(body)


RULES: dict[str, Callable[[Body], str | None]] = {
    "openai": openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "ollama": ollama,
    "deepseek": deepseek,
    "mistral": mistral,
    "vllm": _anywhere,
    "openrouter": _anywhere,
}
