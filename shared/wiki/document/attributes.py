"""The attributes of every node and mark: what each may hold and what it is when absent."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from shared.core.tunables import MAX_LABEL_CHARS
from shared.wiki.document.urls import is_safe_image, is_safe_link

CALLOUT_TYPES: Final = ("info", "note", "tip", "success", "warning", "danger")
MENTION_TYPES: Final = ("user", "page")
MAX_LIST_START: Final = 999_999_999  # Markdown's own limit
MAX_SPAN: Final = 1_000
MAX_PIXELS: Final = 10_000

LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#._/-]{1,50}")
COLOR: Final = re.compile(r"#[0-9A-Fa-f]{3,8}|[a-z]{1,32}|rgba?\([0-9., %]{1,40}\)")
IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

REQUIRED: Final = object()


@dataclass(frozen=True, slots=True)
class Attribute:
    """`expects` completes the sentence "must be ..."; `default` is `REQUIRED` or the value."""

    expects: str
    accepts: Callable[[Any], bool]
    default: Any = REQUIRED


Attributes = dict[str, Attribute]


def is_label(value: Any) -> bool:
    """One line of text, at most MAX_LABEL_CHARS long."""
    return isinstance(value, str) and len(value) <= MAX_LABEL_CHARS and not CONTROLS.search(value)


def _integer(low: int, high: int, default: Any = REQUIRED) -> Attribute:
    def accepts(value: Any) -> bool:
        return type(value) is int and low <= value <= high

    return Attribute(f"a whole number from {low} to {high}", accepts, default)


def _pattern(pattern: re.Pattern[str], what: str, default: Any = REQUIRED) -> Attribute:
    def accepts(value: Any) -> bool:
        return isinstance(value, str) and pattern.fullmatch(value) is not None

    return Attribute(what, accepts, default)


def _choice(values: tuple[str, ...], default: Any = REQUIRED) -> Attribute:
    return Attribute("one of " + ", ".join(values), lambda value: value in values, default)


def _optional(attribute: Attribute) -> Attribute:
    def accepts(value: Any) -> bool:
        return value is None or attribute.accepts(value)

    return Attribute(attribute.expects + " or null", accepts, None)


def _is_widths(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= MAX_SPAN
        and all(type(width) is int and 0 <= width <= MAX_PIXELS for width in value)
    )


_LABEL = Attribute(f"one line of at most {MAX_LABEL_CHARS} characters", is_label)
_ID: Attributes = {"id": _optional(_pattern(IDENTIFIER, "a short identifier"))}
_CELL: Attributes = {
    **_ID,
    "colspan": _integer(1, MAX_SPAN, 1),
    "rowspan": _integer(1, MAX_SPAN, 1),
    "colwidth": _optional(Attribute("a list of widths in pixels", _is_widths)),
}

NODE_ATTRIBUTES: Final[dict[str, Attributes]] = {
    "doc": {},
    "text": {},
    "hardBreak": {},
    "mention": {
        "id": _pattern(IDENTIFIER, "the id of what is mentioned"),
        "label": _LABEL,
        "entityType": _choice(MENTION_TYPES),
    },
    "paragraph": _ID,
    "heading": {**_ID, "level": _integer(1, 6, 1)},
    "bulletList": _ID,
    "orderedList": {**_ID, "start": _integer(0, MAX_LIST_START, 1)},
    "listItem": _ID,
    "taskList": _ID,
    "taskItem": {
        **_ID,
        "checked": Attribute("true or false", lambda value: isinstance(value, bool), False),
    },
    "table": _ID,
    "tableRow": _ID,
    "tableHeader": _CELL,
    "tableCell": _CELL,
    "codeBlock": {**_ID, "language": _optional(_pattern(LANGUAGE, "a language's name"))},
    "blockquote": _ID,
    "callout": {**_ID, "type": _choice(CALLOUT_TYPES, "info")},
    "horizontalRule": _ID,
    "image": {
        **_ID,
        "src": Attribute(
            "an http, https or relative address",
            lambda value: isinstance(value, str) and is_safe_image(value),
        ),
        "alt": _optional(_LABEL),
        "title": _optional(_LABEL),
        "width": _optional(_integer(1, MAX_PIXELS)),
    },
}

MARK_ATTRIBUTES: Final[dict[str, Attributes]] = {
    "link": {
        "href": Attribute(
            "an http, https, mailto, tel or relative address",
            lambda value: isinstance(value, str) and is_safe_link(value),
        ),
        "title": _optional(_LABEL),
    },
    "bold": {},
    "italic": {},
    "strike": {},
    "underline": {},
    "highlight": {"color": _optional(_pattern(COLOR, "a colour"))},
    "superscript": {},
    "subscript": {},
    "code": {},
}
