"""How alike two texts are."""

from collections import Counter
from itertools import pairwise, takewhile

from shared.wiki.document.schema import JsonDict
from shared.wiki.document.text import block_text

_FEW_WORDS = 4
_MAX_CHARS = 4_000  # of a block's text: enough to know it again, and bounded


class Features:
    """What a block is recognised by: its words, or pairs of letters when they are few."""

    __slots__ = ("pairs", "size", "words")

    def __init__(self, block: JsonDict) -> None:
        text = block_text(block)[:_MAX_CHARS].lower()
        split = text.split()
        self.words = Counter(split)
        self.size = len(split)
        few = len(split) <= _FEW_WORDS
        self.pairs = Counter(a + b for a, b in pairwise(text)) if few else None

    def likeness(self, other: "Features") -> float:
        """From 0 (nothing in common) to 1 (the same words), by Dice's coefficient."""
        if self.pairs is not None and other.pairs is not None:
            return _dice(self.pairs, other.pairs)
        return _dice(self.words, other.words)


def _dice(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def common_start(one: str, other: str) -> int:
    """With how many characters both begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
