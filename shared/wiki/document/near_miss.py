"""Why a text was not found: what the page has instead, in words that can be acted on."""

import re
from collections.abc import Sequence

from shared.core.tunables import EDIT_HINT_CHARS, EDIT_SHOWN_CHARS
from shared.wiki.document.similarity import common_start

_ALIKE = ("'‘’ʼ′", '"“”„«»″', "-‐‑‒–—−")  # one is typed for another
_BEFORE = 20  # characters shown before the first difference

_ABSENT = (
    "find is not on the page. Give the words of one paragraph, heading, list item, table cell "
    "or code block as they read, without Markdown markup; a mention is not text."
)
_ACROSS = (
    "find runs across several blocks. Give each paragraph, heading, list item, table cell or "
    "code block an edit of its own."
)


def why_absent(find: str, texts: Sequence[str]) -> str:
    """The reason why `find`, which none of the blocks' `texts` holds, is refused."""
    words = find.replace("|", " ")  # between the cells of a table's row
    if not words.strip() or len(find) > EDIT_HINT_CHARS:
        return _ABSENT
    alike = _pattern(find)
    for text in texts:
        if match := alike.search(text):
            shown = _from_difference(match[0], find.strip())
            return f"find is not on the page as given; the page has “{shown}”."
    return _ACROSS if _pattern(words).search("\n".join(texts)) else _ABSENT


def _pattern(find: str) -> re.Pattern[str]:
    """What reads alike: any white space, either case, any quotation mark or dash."""
    words = ["".join(map(_alike, word)) for word in find.split()]
    return re.compile(r"\s+".join(words), re.IGNORECASE)


def _alike(char: str) -> str:
    group = next((group for group in _ALIKE if char in group), None)
    return f"[{group}]" if group else re.escape(char)


def _from_difference(found: str, find: str) -> str:
    """As much of what was found as is shown, the first difference in it."""
    long = len(found) > EDIT_SHOWN_CHARS
    start = max(0, common_start(found, find) - _BEFORE) if long else 0
    return found[start : start + EDIT_SHOWN_CHARS]
