"""Keeps block ids when a document is replaced by another version of itself.

Blocks are compared by a hash of their content without ids. In this order: a block that occurs
once in both versions is the same wherever it stands; among siblings, equal blocks in order;
in the gaps between those, similar blocks of the same type in order, and their children in
turn. Close to linear in the number of blocks.
"""

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Final

import orjson

from shared.wiki.document.ids import copy_blocks, is_block_id, new_block_id, walk_blocks
from shared.wiki.document.schema import BLOCK_TYPES, JsonDict
from shared.wiki.document.similarity import Features

_LOOK_AHEAD: Final = 8  # old blocks tried for a new one: keeps a rewritten page linear
_COMPARISONS: Final = 2_500  # in a gap that is small enough, every old block is tried
_ALIKE: Final = 0.5  # below this a block is another block
# These are told apart by their place when as many stand there as before.
_BY_PLACE: Final = frozenset({"tableRow", "tableCell", "tableHeader"})


def keep_ids(old: JsonDict, new: JsonDict) -> JsonDict:
    """`new` with an id on every block, those of `old` where the block is the same.

    An unchanged, moved or lightly edited block keeps its id; no id is given twice. Ids that
    `new` brings are not looked at. Takes documents in normal form and leaves them unchanged.
    """
    return _Matching(copy_blocks(old), copy_blocks(new)).run()


class _Matching:
    def __init__(self, old: JsonDict, new: JsonDict) -> None:
        self.old, self.new = old, new
        self.hashes: dict[int, int] = {}
        self.partner: dict[int, JsonDict] = {}  # by identity of a new block: its old one
        self.taken: set[int] = set()  # identities of old blocks
        self.features: dict[int, Features] = {}

    def run(self) -> JsonDict:
        olds, news = list(walk_blocks(self.old)), list(walk_blocks(self.new))
        interned: dict[tuple[bytes, tuple[int, ...]], int] = {}
        for blocks in (olds, news):
            for block in reversed(blocks):  # children before parents
                self.hashes[id(block)] = interned.setdefault(self._content(block), len(interned))
        self._pair_unique(olds, news)
        todo = deque([(self.old, self.new)])
        while todo:
            todo.extend(self._pair_children(*todo.popleft()))
        self._write(news)
        return self.new

    def _content(self, block: JsonDict) -> tuple[bytes, tuple[int, ...]]:
        attrs = {**block["attrs"], "id": None}
        children = block_children(block)
        inline = [] if children else block.get("content", [])
        own = orjson.dumps([block["type"], attrs, inline], option=orjson.OPT_SORT_KEYS)
        return own, tuple(self.hashes[id(child)] for child in children)

    def _pair_unique(self, olds: Sequence[JsonDict], news: Sequence[JsonDict]) -> None:
        counts = Counter(self.hashes[id(block)] for block in olds)
        new_counts = Counter(self.hashes[id(block)] for block in news)
        by_hash = {self.hashes[id(block)]: block for block in olds}
        for block in news:
            value = self.hashes[id(block)]
            if new_counts[value] == 1 == counts[value]:
                self._pair_equal(by_hash[value], block)

    def _pair_equal(self, old: JsonDict, new: JsonDict) -> None:
        """Equal blocks have equal children, which are paired with them."""
        todo = [(old, new)]
        while todo:
            before, after = todo.pop()
            if id(after) in self.partner or id(before) in self.taken:
                continue
            self._pair(before, after)
            todo.extend(zip(block_children(before), block_children(after), strict=True))

    def _pair(self, old: JsonDict, new: JsonDict) -> None:
        self.partner[id(new)] = old
        self.taken.add(id(old))

    def _pair_children(self, old: JsonDict, new: JsonDict) -> list[tuple[JsonDict, JsonDict]]:
        """Pairs the children of two blocks; gives the pairs whose own children are to pair."""
        olds, news = block_children(old), block_children(new)
        places = {id(block): index for index, block in enumerate(olds)}
        anchors = [
            (places[id(partner)], index)
            for index, block in enumerate(news)
            if (partner := self.partner.get(id(block))) and id(partner) in places
        ]
        similar: list[tuple[JsonDict, JsonDict]] = []
        last_old, last_new = 0, 0
        for old_at, new_at in [*rising(anchors), (len(olds), len(news))]:
            gap_old = [b for b in olds[last_old:old_at] if id(b) not in self.taken]
            gap_new = [b for b in news[last_new:new_at] if id(b) not in self.partner]
            similar.extend(self._pair_gap(gap_old, gap_new, top=old is self.old))
            last_old, last_new = old_at + 1, new_at + 1
        return similar

    def _pair_gap(
        self, olds: list[JsonDict], news: list[JsonDict], *, top: bool
    ) -> list[tuple[JsonDict, JsonDict]]:
        olds, news = self._pair_repeated(olds, news)
        kinds = [block["type"] for block in olds]
        same_kinds = kinds == [block["type"] for block in news]
        only_child = len(olds) == 1 and not top
        if same_kinds and (only_child or _BY_PLACE.issuperset(kinds)):
            pairs = list(zip(olds, news, strict=True))
        else:
            pairs = self._alike(olds, news)
        for before, after in pairs:
            self._pair(before, after)
        return pairs

    def _pair_repeated(
        self, olds: list[JsonDict], news: list[JsonDict]
    ) -> tuple[list[JsonDict], list[JsonDict]]:
        """Pairs equal blocks in order; gives what is left of both."""
        waiting: defaultdict[int, deque[int]] = defaultdict(deque)
        for index, block in enumerate(olds):
            waiting[self.hashes[id(block)]].append(index)
        last = -1
        for block in news:
            places = waiting[self.hashes[id(block)]]
            while places and places[0] <= last:
                places.popleft()
            if places:
                last = places.popleft()
                self._pair_equal(olds[last], block)
        return (
            [block for block in olds if id(block) not in self.taken],
            [block for block in news if id(block) not in self.partner],
        )

    def _alike(self, olds: list[JsonDict], news: list[JsonDict]) -> list[tuple[JsonDict, JsonDict]]:
        pairs = []
        ahead = max(_LOOK_AHEAD, _COMPARISONS // max(1, len(news)))
        start = 0
        for block in news:
            window = range(start, min(len(olds), start + ahead))
            scores = {
                index: self._likeness(olds[index], block)
                for index in window
                if olds[index]["type"] == block["type"]
            }
            best = max(scores, key=lambda index: scores[index], default=None)
            if best is not None and scores[best] >= _ALIKE:
                pairs.append((olds[best], block))
                start = best + 1
        return pairs

    def _likeness(self, old: JsonDict, new: JsonDict) -> float:
        return self._features(old).likeness(self._features(new))

    def _features(self, block: JsonDict) -> Features:
        known = self.features.get(id(block))
        if known is None:
            known = self.features[id(block)] = Features(block)
        return known

    def _write(self, news: Sequence[JsonDict]) -> None:
        used: set[str] = set()
        for block in news:
            partner = self.partner.get(id(block))
            kept = partner["attrs"]["id"] if partner else ""
            if not is_block_id(kept) or kept in used:
                kept = new_block_id()
            used.add(kept)
            block["attrs"]["id"] = kept


def block_children(node: JsonDict) -> list[JsonDict]:
    """The blocks directly in a node: none when its content is inline."""
    content: list[JsonDict] = node.get("content", [])
    return content if content and content[0]["type"] in BLOCK_TYPES else []


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs, in order, whose first numbers rise. Takes n log n."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (value, _) in enumerate(pairs):
        at = bisect_left(tails, value)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [value]
        ends[at : at + 1] = [index]
    chain = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]
