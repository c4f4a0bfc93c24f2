"""What a provider says of a failure, in whichever shape: read for machines and for people."""

import html
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from shared.core.tunables import PROVIDER_BODY_CHARS, PROVIDER_TEXT_CHARS
from shared.providers.scrubbing import without_key
from workers.llm.json_text import loads

_WORDS = ("error", "message", "detail", "msg", "error_description", "errors", "title", "details")
_MARKS = ("code", "type", "status", "reason", "param", "error_type")
_MAX_DEPTH = 8  # an error that is nested deeper says nothing more
_MAX_ITEMS = 20  # of a list in it
_MAX_WORDS = 3  # messages inside messages: a gateway's, then its provider's

_TITLE = re.compile(r"<title[^>]*>([^<]*)</title", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_KEY = re.compile(
    r"\bBearer\s+\S+|\b(?:sk|pk|rk|gsk|hf|xai|key)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}", re.IGNORECASE
)
_INPUT = re.compile(r"['\"]input['\"]\s*:.*", re.DOTALL)  # validation errors repeat what was sent
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(slots=True)
class ErrorBody:
    """`words` are the provider's messages as they came, `marks` its codes, types and fields in
    lower case, `status` an HTTP status named inside, `delay` the seconds it asks to wait."""

    words: list[str] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    delay: float | None = None

    @property
    def text(self) -> str:
        return ": ".join(self.words[:_MAX_WORDS])[:PROVIDER_BODY_CHARS]

    @property
    def everything(self) -> str:
        """In lower case, to look for patterns in."""
        return " ".join((self.text, *sorted(self.marks))).lower()

    @property
    def status(self) -> int | None:
        codes = sorted(m for m in self.marks if len(m) == 3 and m.isdecimal() and m[0] in "45")
        return int(codes[0]) if codes else None

    def look(self, value: Any, depth: int = 0) -> None:
        """Take in what a part of the body says."""
        if isinstance(value, str):
            if value and value not in self.words:
                self.words.append(value)
        elif depth > _MAX_DEPTH:
            return
        elif isinstance(value, list):
            for item in value[:_MAX_ITEMS]:
                self.look(item, depth + 1)
        elif isinstance(value, dict):
            self._look_into(value, depth)

    def _look_into(self, value: dict[str, Any], depth: int) -> None:
        marks = [value.get(name) for name in _MARKS]
        if isinstance(value.get("loc"), list):  # where a validation error is
            marks += value["loc"]
        self.marks |= {str(mark).lower() for mark in marks if isinstance(mark, str | int)}
        delay = value.get("retryDelay")  # Google's RetryInfo
        if isinstance(delay, str) and (seconds := _DELAY.fullmatch(delay)):
            self.delay = float(seconds[1])
        for name in _WORDS:
            self.look(value.get(name), depth + 1)
        metadata = value.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
            # OpenRouter: what the provider behind it said.
            self.look(_parsed(metadata["raw"]), depth + 1)


def read_error(body: Any) -> ErrorBody:
    """Read an error's body: a JSON value, or text that may be JSON or HTML."""
    found = ErrorBody()
    found.look(_parsed(body) if isinstance(body, str) else body)
    return found


def _parsed(text: str) -> Any:
    text = text[:PROVIDER_BODY_CHARS]
    try:
        return loads(text.encode("utf-8", "replace"))
    except ValueError:
        return text


def for_people(words: str, key: SecretStr | None) -> str:
    """A provider's words fit to be shown: one short line, without markup and without keys."""
    words = words[:PROVIDER_BODY_CHARS]
    if words.lstrip().startswith("<"):
        title = _TITLE.search(words)
        words = html.unescape(title[1] if title else _TAG.sub(" ", words))
    words = _INPUT.sub("…", words)
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in words)
    line = _KEY.sub("***", without_key(" ".join(plain.split()), key))
    return line if len(line) <= PROVIDER_TEXT_CHARS else line[: PROVIDER_TEXT_CHARS - 1] + "…"
