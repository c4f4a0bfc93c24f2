"""Reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009)."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from shared.core.tunables import RRF_K

ItemT = TypeVar("ItemT", bound=Hashable)


def fuse(rankings: Iterable[Sequence[ItemT]]) -> list[tuple[ItemT, float]]:
    """Items with their scores, best first; each ranking is best first, without repeats."""
    scores: dict[ItemT, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1.0 / (RRF_K + rank)
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)
