"""A short piece of a passage, around what was looked for."""

import re
import unicodedata
from collections.abc import Sequence

from shared.core.tunables import SNIPPET_CHARS

_SPACE = re.compile(r"\s+")
_ELLIPSIS = "…"
_MAX_PLACES = 500  # each is compared with those after it


def snippet(text: str, terms: Sequence[str], *, limit: int = SNIPPET_CHARS) -> str:
    """At most `limit` characters in one line, cut between words, where most terms stand.

    Without a match it is the beginning. Cut ends carry an ellipsis.
    """
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= limit:
        return line
    start, end = _window(line, _places(line, terms), limit - 2)
    start = _word_start(line, start, end)
    end = _word_end(line, start, end)
    before = _ELLIPSIS if start > 0 else ""
    after = _ELLIPSIS if end < len(line) else ""
    return before + line[start:end].strip() + after


def _places(line: str, terms: Sequence[str]) -> list[tuple[int, str]]:
    folded = fold(line)
    needles = {fold(term) for term in terms}
    found = sorted(
        (match.start(), needle)
        for needle in needles
        if needle.strip()
        for match in re.finditer(re.escape(needle), folded)
    )
    return found[:_MAX_PLACES]


def fold(text: str) -> str:
    """Lower case without accents, character by character: offsets stay true."""
    return "".join(_fold_character(character) for character in text)


def _fold_character(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0]
    lower = base.lower()
    return lower if len(lower) == 1 else base


def _window(line: str, places: list[tuple[int, str]], size: int) -> tuple[int, int]:
    """The window with the most different terms; the first of equals."""
    if not places:
        return 0, size
    best, most = places[0][0], 0
    for number, (start, _) in enumerate(places):
        inside = {needle for place, needle in places[number:] if place < start + size * 3 // 4}
        if len(inside) > most:
            best, most = start, len(inside)
    # Some words before the match give it sense.
    start = max(0, min(best - size // 4, len(line) - size))
    return start, start + size


def _word_start(line: str, start: int, end: int) -> int:
    if start == 0 or line[start - 1] == " ":
        return start
    space = line.find(" ", start, end)
    return start if space == -1 or space - start > 40 else space + 1


def _word_end(line: str, start: int, end: int) -> int:
    if end >= len(line) or line[end] == " ":
        return min(end, len(line))
    space = line.rfind(" ", start, end)
    return end if space == -1 or end - space > 40 else space
