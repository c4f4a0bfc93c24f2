"""The terms of a query as PostgreSQL matches and ranks them, and how much each one says."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from shared.core.tunables import SEARCH_RANKED_PAGES
from shared.search.query import Query, Unit
from shared.search.snippets import fold

_ONE_LEXEME = re.compile(r"'((?:[^']|'')+)'")


@dataclass(frozen=True, slots=True)
class Term:
    """`match` and `rank` are tsquery texts: all forms of a word, and those that are counted."""

    match: str
    rank: str
    needle: str  # what to look for in a snippet
    required: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """What a page may hold, best all of it, and the tsquery text of what it must not hold."""

    terms: tuple[Term, ...]
    excluded: str | None

    @property
    def required(self) -> str | None:
        """The tsquery text of what a page must hold."""
        return " & ".join(f"({t.match})" for t in self.terms if t.required) or None


def build(query: Query, lexemes: Sequence[tuple[str, str]]) -> Terms:
    """From each unit's lexemes, plain and stemmed; stop words go unless there is nothing else."""
    pairs = [(u, *forms) for u, forms in zip(query.units, lexemes, strict=True) if forms[0]]
    excluded = [_either(plain, stem) for unit, plain, stem in pairs if unit.excluded]
    wanted = [(u, plain, stem) for u, plain, stem in pairs if not u.excluded]
    telling = [pair for pair in wanted if pair[2]] or wanted
    terms = {term.match: term for term in (_term(*pair) for pair in telling)}
    return Terms(tuple(terms.values()), " | ".join(f"({e})" for e in excluded) or None)


def weights(holding: Sequence[int], pages: int) -> list[float]:
    """How much each term says: BM25's inverse document frequency (Robertson, Zaragoza 2009)."""
    return [math.log(1 + (pages - n + 0.5) / (n + 0.5)) for n in holding]


def telling(terms: Sequence[Term], holding: Sequence[int]) -> str | None:
    """The tsquery text of the pages worth ranking: those with one of the rarest terms, as
    many as SEARCH_RANKED_PAGES allows. None when no page holds any term."""
    chosen: list[str] = []
    pages = 0
    for count, term in sorted(zip(holding, terms, strict=True), key=lambda pair: pair[0]):
        if count == 0:
            continue
        if chosen and pages + count > SEARCH_RANKED_PAGES:
            break
        chosen.append(f"({term.match})")
        pages += count
    return " | ".join(chosen) or None


def _term(unit: Unit, plain: str, stem: str) -> Term:
    counted = stem or plain
    match = _either(plain, stem)
    if unit.prefix and _ONE_LEXEME.fullmatch(plain):
        match, counted = f"{match} | {plain}:*", f"{counted} | {plain}:*"
    return Term(match, counted, _needle(unit, counted), unit.phrase)


def _either(plain: str, stem: str) -> str:
    return plain if stem in ("", plain) else f"({plain}) | ({stem})"


def _needle(unit: Unit, counted: str) -> str:
    """The stem where the word begins with it, so that other forms are found as well."""
    lexeme = _ONE_LEXEME.match(counted)
    stem = "" if lexeme is None else lexeme[1].replace("''", "'")
    return stem if stem and fold(unit.text).startswith(stem) else unit.text
