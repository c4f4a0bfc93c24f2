"""How providers differ in what they take, and what a refusal teaches.

By their public documentation:
- OpenAI: newer models take `max_completion_tokens` only
- Anthropic's OpenAI-compatible endpoint: takes both limits and `stream_options`, ignores what
  else it does not know
- Gemini's: a subset of JSON Schema for tools; thought signatures come in a call's
  `extra_content` and must come back with it; unknown fields are refused
- Ollama's /v1: `max_tokens`, `stream_options`; thoughts come and go as `reasoning`
- vLLM: `reasoning`, earlier `reasoning_content`; DeepSeek: `reasoning_content`, which must come
  back with every assistant message of a conversation with tool calls
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workers.llm.error_body import ErrorBody


@dataclass(frozen=True, slots=True)
class Dialect:
    """`limit` names the field for the output's limit; `thoughts`: whether a turn's own thoughts
    are sent back; `plain_schemas`: whether tools' schemas are cut down to a subset."""

    limit: str = "max_tokens"
    thoughts: bool = False
    plain_schemas: bool = False


DIALECTS = {
    "openai": Dialect(limit="max_completion_tokens"),
    "anthropic": Dialect(),
    "gemini": Dialect(plain_schemas=True),
    "ollama": Dialect(thoughts=True),
    "openai-compatible": Dialect(thoughts=True),
}

LIMITS = ("max_tokens", "max_completion_tokens")
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")

# How a model at an address differs from its dialect; `wire` obeys.
OTHER_LIMIT = "other-limit"
NO_LIMIT = "no-limit"
NO_USAGE = "no-usage"
NO_THOUGHTS = "no-thoughts"
BLANK_THOUGHTS = "blank-thoughts"
NO_EXTRA = "no-extra"
BLANK_SIGNATURES = "blank-signatures"
TEXT_ALWAYS = "text-always"
NO_RESULT_NAMES = "no-result-names"
TOOLS_ALWAYS = "tools-always"
NO_SYSTEM = "no-system"
PLAIN_SCHEMAS = "plain-schemas"

_REFUSED = (
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed"
    r"|forbidden|cannot find|does not support|additional propert|invalid (parameter|field|argument)"
)


@dataclass(frozen=True, slots=True)
class _Lesson:
    """A refusal that matches `words`, of a request for which `sent` holds, teaches `quirk`."""

    quirk: str
    words: re.Pattern[str]
    sent: Callable[[dict[str, Any]], bool]


def _refusal(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?=.*\b({name})\b)(?=.*({_REFUSED}))", re.DOTALL)


def _messages(body: dict[str, Any], *names: str, role: str | None = None) -> bool:
    return any(
        message.keys() & set(names)
        for message in body["messages"]
        if role is None or message["role"] == role
    )


def _calls(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [call for message in body["messages"] for call in message.get("tool_calls", ())]


_LESSONS = (
    _Lesson(OTHER_LIMIT, _refusal("|".join(LIMITS)), lambda body: bool(body.keys() & set(LIMITS))),
    _Lesson(NO_LIMIT, _refusal("|".join(LIMITS)), lambda body: bool(body.keys() & set(LIMITS))),
    _Lesson(NO_USAGE, _refusal("stream_options|include_usage"), lambda b: "stream_options" in b),
    _Lesson(
        BLANK_THOUGHTS,
        re.compile(r"(?=.*reasoning[_ ]content)(?=.*(passed back|missing|required))", re.DOTALL),
        lambda body: _messages(body, "role", role="assistant"),
    ),
    _Lesson(
        NO_THOUGHTS,
        _refusal("|".join(REASONING_FIELDS)),
        lambda body: _messages(body, *REASONING_FIELDS),
    ),
    _Lesson(
        BLANK_SIGNATURES,
        re.compile(r"missing.{0,40}thought_?signature", re.DOTALL),
        lambda body: any("extra_content" not in call for call in _calls(body)),
    ),
    _Lesson(
        NO_EXTRA,
        _refusal("extra_content"),
        lambda body: any("extra_content" in call for call in _calls(body)),
    ),
    _Lesson(
        TEXT_ALWAYS,
        re.compile(r"content.*(\bnull\b|\bnone\b|nonetype|valid string|a string)", re.DOTALL),
        lambda body: any(message.get("content", "") is None for message in body["messages"]),
    ),
    _Lesson(
        TOOLS_ALWAYS,
        re.compile(r"must define .?tools|tools=. param|toolconfig|tools.{0,30} must be"),
        lambda body: "tools" not in body and bool(_calls(body)),
    ),
    _Lesson(
        NO_SYSTEM,
        re.compile(
            r"(developer instruction|system (role|message|prompt|instruction)s?).{0,60}"
            r"(not enabled|not supported|unsupported)|support .system|only user and assistant roles"
        ),
        lambda body: _messages(body, "role", role="system"),
    ),
    _Lesson(
        NO_RESULT_NAMES,
        _refusal("name"),
        lambda body: _messages(body, "name", role="tool"),
    ),
    _Lesson(
        PLAIN_SCHEMAS,
        re.compile(r"schema|function_declarations|parameters"),
        lambda body: "tools" in body,
    ),
)


def learn(quirks: set[str], status: int | None, said: ErrorBody, body: dict[str, Any]) -> bool:
    """Whether a refusal of `body` teaches something new, which then is among the quirks."""
    if status not in (400, 422, 500):
        return False
    words = said.everything
    for lesson in _LESSONS:
        if lesson.quirk not in quirks and lesson.sent(body) and lesson.words.search(words):
            quirks.add(lesson.quirk)
            return True
    return False
