"""Reading what somebody typed into a search box, or asked in a sentence.

Nothing typed is an error: quotes make a phrase, a leading minus excludes, all other signs
only separate words.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from shared.core.tunables import MAX_QUERY_CHARS, MAX_QUERY_WORDS

# Scripts written without spaces between words: Japanese, Chinese; and Korean, whose
# particles are written on to the word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_ITEM = re.compile(r'(?P<minus>-)?"(?P<phrase>[^"]*)"|(?P<word>\S+)')
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or a phrase. A prefix is a word that somebody may still be typing."""

    text: str
    phrase: bool = False
    excluded: bool = False
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """`grams` are pairs of characters of runs in scripts without spaces, folded to lower case."""

    units: tuple[Unit, ...]
    grams: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.grams and all(unit.excluded for unit in self.units)


def parse(text: str) -> Query:
    """At most MAX_QUERY_WORDS units; empty for blank text or signs alone."""
    clean = _clean(text)
    found = [unit for unit in _units(clean) if _EDGES.sub("", unit.text)]
    units = list(dict.fromkeys(found))[:MAX_QUERY_WORDS]
    if units and clean[-1:].isalnum() and units[-1] == found[-1] and _may_grow(units[-1]):
        units[-1] = Unit(units[-1].text, prefix=True)
    return Query(tuple(units), tuple(dict.fromkeys(_grams(clean)))[: 2 * MAX_QUERY_WORDS])


def _clean(text: str) -> str:
    """One line of encodable characters, composed, cut to size."""
    kept = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") else c
        for c in text[:MAX_QUERY_CHARS]
    )
    return unicodedata.normalize("NFC", kept).strip()


def _units(text: str) -> Iterator[Unit]:
    for item in _ITEM.finditer(text):
        if item["word"] is None:
            yield Unit(item["phrase"].strip(), phrase=True, excluded=item["minus"] is not None)
            continue
        excluded = re.match(r"-\w", item["word"]) is not None
        for word in _CJK_RUN.sub(" ", item["word"]).split():
            yield Unit(_EDGES.sub("", word), excluded=excluded)


def _grams(text: str) -> Iterator[str]:
    for run in _CJK_RUN.findall(text.lower()):
        if len(run) == 1:
            yield run
        for first, second in pairwise(run):
            yield first + second


def _may_grow(unit: Unit) -> bool:
    return len(unit.text) >= 2 and not unit.phrase and not unit.excluded
