"""YAML front matter: split off, read with bounds, never a reason to fail."""

import re
from datetime import date
from typing import Any

import yaml

from shared.core.tunables import MAX_FRONT_MATTER_CHARS
from shared.wiki.document.cleaning import clean_text

_MAX_NUMBER = 2**53  # what JSON's readers hold exactly

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Without aliases, by which a few lines can name millions of values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not taken")
        return super().compose_node(parent, index)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """(front matter, body) of a text with `\\n` line ends.

    A block that is not valid YAML gives `{}` and is still kept out of the body. Text between
    two rules that is no mapping, or a block longer than MAX_FRONT_MATTER_CHARS, is body.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return {}, text
    window = text[: opening.end() + MAX_FRONT_MATTER_CHARS]
    closing = _CLOSING.search(window, opening.end())
    if closing is None:
        return {}, text
    body = text[closing.end() :]
    try:
        source = text[opening.end() : closing.start()]
        data = _plain(yaml.load(source, Loader=_Loader))  # noqa: S506
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError, AttributeError):
        return {}, body
    if data is None:
        return {}, body
    if not isinstance(data, dict):
        return {}, text
    return data, body


def _plain(value: Any) -> Any:
    """YAML's values as JSON's: dates, long numbers and what else JSON lacks become strings."""
    if isinstance(value, dict):
        return {clean_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < _MAX_NUMBER:
        return value
    return clean_text(str(value))
