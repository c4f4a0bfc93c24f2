"""Which of the marker lines of `markdown_rules` belong together; the others are plain text."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from markdown_it.token import Token

_PARENTS = {"tr": "table", "td": "tr", "th": "tr"}


@dataclass(slots=True)
class _Segment:
    """The markers open within one ordinary container, which no pair may cross."""

    open: list[Token] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def push(self, token: Token) -> None:
        name = token.meta["open"]
        parent = _PARENTS.get(name)
        if parent and not (self.open and self.open[-1].meta["open"] == parent):
            token.meta = {}
            return
        self.open.append(token)
        self.counts[name] += 1

    def close(self, token: Token) -> None:
        name = token.meta["close"]
        if not self.counts[name]:
            token.meta = {}
            return
        while self.open[-1].meta["open"] != name:
            self.drop()
        self.open.pop()
        self.counts[name] -= 1

    def drop(self) -> None:
        token = self.open.pop()
        self.counts[token.meta["open"]] -= 1
        token.meta = {}


def pair_markers(tokens: Iterable[Token]) -> None:
    """Leave `meta` on markers that pair within their container, and empty the others' `meta`.

    A row pairs only directly in a table and a cell only directly in a row. Linear in time.
    """
    segments = [_Segment()]
    for token in tokens:
        if token.type == "wiki_marker":
            if "open" in token.meta:
                segments[-1].push(token)
            elif "close" in token.meta:
                segments[-1].close(token)
        elif token.nesting == 1:
            segments.append(_Segment())
        elif token.nesting == -1:
            _drop_all(segments.pop())
    _drop_all(segments.pop())


def _drop_all(segment: _Segment) -> None:
    while segment.open:
        segment.drop()
