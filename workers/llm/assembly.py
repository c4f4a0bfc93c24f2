"""From a provider's chunks to events: text, thoughts, tool calls, tokens, and the end."""

from collections.abc import Iterable, Iterator
from typing import Any

from workers.llm.base import Finished, ModelEvent, ReasoningPiece, TextPiece, Usage
from workers.llm.tool_calls import ToolCalls

# The first that a delta holds counts: some send the same under two names.
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")

_REASONS = {
    "stop": ("end_turn", "stop_sequence", "eos", "eos_token", "end", "complete", "completed"),
    "length": ("max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"),
    "content-filter": (
        "content_filter",
        "content_filtered",
        "safety",
        "recitation",
        "refusal",
        "blocklist",
        "prohibited_content",
        "spii",
        "sensitive",
        "guardrail_intervened",
    ),
    "tool-calls": ("tool_calls", "tool_call", "function_call", "tool_use"),
    # Not ends of an answer but failures, told where its end is told.
    "error": ("error", "network_error"),
    "overloaded": ("insufficient_system_resource",),
}
_REASON = {word: reason for reason, words in _REASONS.items() for word in (reason, *words)}

_MAX_TOKENS = 2**31 - 1  # what is stored of a count
_MAX_DEPTH = 8  # of parts in parts


class Assembly:
    """One answer. `reason` is that of `Finished`, or `error` or `overloaded`; None until told."""

    def __init__(self) -> None:
        self.calls = ToolCalls()
        self.reason: str | None = None
        self._spoken = False
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None

    def feed(self, chunk: dict[str, Any]) -> list[ModelEvent]:
        """The events of one chunk, or of a whole completion."""
        usage = chunk.get("usage") or chunk.get("x_groq")
        if usage:
            self._count(usage)
        choices = chunk.get("choices")
        if not choices or not isinstance(choices, list):
            return []
        choice = choices[0]
        if not isinstance(choice, dict) or choice.get("index") not in (0, None):
            return []
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            # A whole message; beside deltas it would only repeat them.
            delta = None if self.said else choice.get("message")
        events = list(self._delta(delta)) if isinstance(delta, dict) else []
        reason = choice.get("finish_reason")
        if reason:
            self.reason = _REASON.get(str(reason).lower(), "other")
            if choice.get("usage"):
                self._count(choice["usage"])
        if events:
            self._spoken = True
        return events

    @property
    def said(self) -> bool:
        """Whether there was anything at all: words, thoughts or calls."""
        return self._spoken or bool(self.calls)

    def end(self, reason: str) -> list[ModelEvent]:
        """The events that end an answer."""
        if self.calls and reason in ("stop", "other"):
            reason = "tool-calls"  # Gemini says stop
        return [*self.calls.end(), *self.usage(), Finished(reason)]

    def usage(self) -> list[ModelEvent]:
        """The tokens, if the provider told any."""
        if self._input_tokens is None and self._output_tokens is None:
            return []
        return [Usage(self._input_tokens or 0, self._output_tokens or 0)]

    def _delta(self, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        for name in _REASONING:
            thoughts = delta.get(name)
            if thoughts:
                yield from self._thoughts(thoughts, name)
                break
        content = delta.get("content")
        if content:
            yield from self._content(content)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            yield from self._content(refusal)
        fragments = delta.get("tool_calls")
        if fragments and isinstance(fragments, list):
            yield from self.calls.take(fragments)
        old = delta.get("function_call")
        if old and isinstance(old, dict):
            yield from self.calls.take_old(old)

    def _thoughts(self, thoughts: Any, name: str) -> Iterator[ModelEvent]:
        if isinstance(thoughts, str):
            piece = ReasoningPiece(thoughts, name)
        else:
            # An object could not be sent back as it was: it goes under no name.
            piece = ReasoningPiece("".join(_texts(thoughts)))
        if piece.text:
            yield from self.calls.end_whole()
            yield piece

    def _content(self, content: Any) -> Iterator[ModelEvent]:
        yield from self.calls.end_whole()
        if isinstance(content, str):
            yield TextPiece(content)
            return
        for part in content if isinstance(content, list) else [content]:
            text = "".join(_texts(part))
            if not text:
                continue
            if isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
                yield ReasoningPiece(text)
            else:
                yield TextPiece(text)

    def _count(self, usage: Any) -> None:
        """The last numbers count; one that is missing leaves what was told before."""
        if isinstance(usage, dict) and isinstance(usage.get("usage"), dict):
            usage = usage["usage"]  # x_groq
        if not isinstance(usage, dict):
            return
        input_tokens = _number(usage, "prompt_tokens", "input_tokens")
        output_tokens = _number(usage, "completion_tokens", "output_tokens")
        total = _number(usage, "total_tokens")
        if total is not None and input_tokens is not None:
            # Gemini and xAI count thoughts, which are paid for, in the total alone.
            output_tokens = max(output_tokens or 0, total - input_tokens)
        if input_tokens is not None:
            self._input_tokens = input_tokens
        if output_tokens is not None:
            self._output_tokens = output_tokens


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a part of a content, in a list of parts or in a thought."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        for item in value:
            yield from _texts(item, depth + 1)
    elif isinstance(value, dict) and depth < _MAX_DEPTH:
        for name in ("text", "content", "thinking", "summary"):
            if value.get(name):
                yield from _texts(value[name], depth + 1)
                break


def _number(usage: dict[str, Any], *names: str) -> int | None:
    found: Iterable[Any] = (usage.get(name) for name in names)
    for value in found:
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(min(value, _MAX_TOKENS))
    return None
