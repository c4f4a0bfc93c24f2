"""The content of one text block, read and changed by offsets in its text."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from shared.wiki.document.check import joined_texts
from shared.wiki.document.schema import SCHEMA, JsonDict, node, text
from shared.wiki.document.similarity import common_start
from shared.wiki.document.urls import is_safe_link

_ATOM: Final = "\0"  # stands for a mention: no text holds it
_ADDRESS = re.compile(r"https?://\S+")


Parts = list[tuple[str, str]]  # (old, new): no old text is empty


@dataclass(frozen=True, slots=True)
class _Change:
    """An old text's characters from `before`, `gone` many of its `length`, become `new`, with
    the marks of the character `marks_of`."""

    length: int
    before: int
    gone: int
    new: str
    marks_of: int

    @classmethod
    def of(cls, old: str, new: str) -> "_Change":
        before = common_start(old, new)
        after = common_start(old[before:][::-1], new[before:][::-1])
        gone = len(old) - before - after
        # An insertion replaces nothing: it goes on as what stands before it in the old text.
        marks_of = before if gone else max(0, before - 1)
        return cls(len(old), before, gone, new[before : len(new) - after], marks_of)


class InlineRange:
    """A text block's content. `text` is without marks: a hard break is a `\\n`, any other atom
    a NUL. `code`: its text is Markdown to nobody, and its line breaks are characters."""

    def __init__(self, block: JsonDict) -> None:
        self._nodes: list[JsonDict] = block.get("content", [])
        parts = [_text(item) for item in self._nodes]
        self._ends = list(accumulate(map(len, parts)))
        self.text = "".join(parts)
        self.code = bool(SCHEMA.nodes[block["type"]].spec.get("code"))

    def replaced(self, starts: Sequence[int], parts: Parts) -> list[JsonDict]:
        """The content with the parts' new texts where their old ones stand, in normal form.

        What begins and ends both texts of a part stays as it is; what is new between gets the
        marks of the first character that it replaces. `starts` rise, and the parts' old texts
        stand there one after the other.
        """
        trimmed = [_Change.of(old, new) for old, new in parts]
        made: list[JsonDict] = []
        done = 0
        for start in starts:
            at = start
            for change in trimmed:
                first = at + change.before
                made += self._cut(done, first)
                made += self._new(change.new, self._marks(at + change.marks_of))
                done = first + change.gone
                at += change.length
        made += self._cut(done, len(self.text))
        return _following(self._nodes, joined_texts(made))

    def _cut(self, start: int, end: int) -> Iterator[JsonDict]:
        """The nodes between two offsets, texts cut where they begin or end within one."""
        index = bisect_right(self._ends, start)
        while start < end:
            item, stop = self._nodes[index], self._ends[index]
            begin = stop - len(_text(item))
            if item["type"] == "text":
                item = {**item, "text": item["text"][start - begin : end - begin]}
            yield item
            start, index = stop, index + 1

    def _marks(self, offset: int) -> list[JsonDict]:
        marks: list[JsonDict] = self._nodes[bisect_right(self._ends, offset)].get("marks", [])
        return marks

    def _new(self, new: str, marks: list[JsonDict]) -> Iterator[JsonDict]:
        for number, line in enumerate([new] if self.code else new.split("\n")):
            if number:
                yield {**node("hardBreak"), **({"marks": marks} if marks else {})}
            if line:
                yield text(line, marks)


def _text(item: JsonDict) -> str:
    if item["type"] == "text":
        return str(item["text"])
    return "\n" if item["type"] == "hardBreak" else _ATOM


def _following(before: Sequence[JsonDict], after: list[JsonDict]) -> list[JsonDict]:
    """A link that shows its own address leads where it says also when that has changed."""
    shown = {href for item in before if (href := _address(item)) and href == item.get("text")}
    return [
        _leading_to(item["text"], item)
        if _address(item) in shown and _ADDRESS.fullmatch(item.get("text", ""))
        else item
        for item in after
    ]


def _address(item: JsonDict) -> Any:
    return next((m["attrs"]["href"] for m in item.get("marks", ()) if m["type"] == "link"), None)


def _leading_to(href: str, item: JsonDict) -> JsonDict:
    if not is_safe_link(href):
        return item
    marks = [
        {**mark, "attrs": {**mark["attrs"], "href": href}} if mark["type"] == "link" else mark
        for mark in item["marks"]
    ]
    return {**item, "marks": marks}
