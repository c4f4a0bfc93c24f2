"""Choosing what to quote: the sentences of a page that have most in common with a question."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from shared.core.tunables import OFFLINE_QUOTE_CHARS, OFFLINE_QUOTE_SHARE, OFFLINE_QUOTES

_BLOCK = re.compile(r"^\[#([a-z0-9]+)\]$", re.MULTILINE)
# A full stop ends a sentence only before a new beginning: not within "a.k.a. your badge".
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-zа-я])|(?<=[。！？])|\n+")
_TEMPLATE = re.compile(r"\{[{%].*?[}%]\}", re.DOTALL)  # what a site generator would fill in
_WORD = re.compile(r"\w+")
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`~]{1,3}|<[^>]+>|^\s*(?:[-+*>#|]|\d+[.)])+\s*")
_STEM = 5  # letters that must agree: "request" finds "requesting"
_STOP_WORDS = frozenset(
    _WORD.findall(
        """
        a an and are as at be by can do does for from get has have how i if in is it its may
        me my of on one or our should that the their there this to was we what when where
        which who whom whose why will with you your about
        а без бы в во вы где для до его ее если и из или их к как какие какой ко ли мне мой
        мы на не нет но о об от по при с со так то у что чтобы это я
        """
    )
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage and the link that leads to it."""

    text: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as `getPage` gave it, in blocks; `best_block` is the one that the search found."""

    title: str
    url: str
    blocks: tuple[tuple[str, str], ...]
    best_block: str | None

    @classmethod
    def parse(cls, output: dict[str, Any], hits: list[dict[str, Any]]) -> "PageText":
        """From a `getPage` output with block ids, and the hits that led to it."""
        pieces = _BLOCK.split(output["markdown"])
        blocks = tuple((pieces[i], pieces[i + 1].strip()) for i in range(1, len(pieces) - 1, 2))
        hit = next((h for h in hits if h["pageId"] == output["pageId"]), None)
        anchor = hit["url"].partition("#")[2] if hit is not None else ""
        return cls(output["title"], output["url"], blocks, anchor or None)


def is_russian(text: str) -> bool:
    """Whether Cyrillic letters outnumber Latin ones."""
    cyrillic = sum("а" <= c <= "я" or c == "ё" for c in text.lower())
    latin = sum("a" <= c <= "z" for c in text.lower())
    return cyrillic > latin


def terms(text: str) -> frozenset[str]:
    """The words that carry a question, cut to a common beginning."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in _STOP_WORDS and len(word) > 1)


@dataclass(frozen=True, slots=True)
class _Sentence:
    block: int
    text: str
    shared: frozenset[str]  # the words that it has in common with the question
    near: bool  # whether the search chose its block


def choose_quotes(question: str, pages: list[PageText]) -> list[Quote]:
    """The best passages, pages in the order of the search: several of the first, one of
    each other that shares nearly as much with the question as the best passage.

    A shared word counts the more, the fewer of the read sentences have it.
    """
    wanted = terms(question)
    read = [list(_sentences(wanted, page)) for page in pages]
    everything = [sentence for of_page in read for sentence in of_page]
    weights = {
        term: math.log1p(len(everything) / sum(term in s.shared for s in everything))
        for term in wanted
        if any(term in s.shared for s in everything)
    }

    def shared(sentence: _Sentence) -> float:
        return sum(weights[term] for term in sentence.shared)

    most = max(map(shared, everything), default=0.0)
    quotes: list[Quote] = []
    for rank, (page, of_page) in enumerate(zip(pages, read, strict=True)):
        # The block that the search chose is worth half as much as the best shared words.
        best = sorted(of_page, key=lambda s: -(shared(s) + s.near * max(most, 1.0) / 2))
        chosen = [
            sentence
            for place, sentence in enumerate(best[: OFFLINE_QUOTES if rank == 0 else 1])
            if (rank == 0 and place == 0) or 0 < most * OFFLINE_QUOTE_SHARE <= shared(sentence)
        ]
        for sentence in sorted(chosen, key=lambda s: s.block):
            url = f"{page.url}#{page.blocks[sentence.block][0]}"
            quotes.append(Quote(sentence.text, page.title, url))
    return quotes


def _sentences(wanted: frozenset[str], page: PageText) -> Iterator[_Sentence]:
    for index, (block_id, markdown) in enumerate(page.blocks):
        if markdown.startswith(("#", "```", "![")):
            continue
        for raw in _SENTENCE_END.split(_TEMPLATE.sub("", markdown)):
            text = _plain(raw)
            if len(_WORD.findall(text)) >= 3:
                yield _Sentence(index, text, wanted & terms(text), block_id == page.best_block)


def _plain(markdown: str) -> str:
    text = _MARKUP.sub(lambda m: m.group(1) or "", markdown.strip())
    text = " ".join(text.replace("|", " ").split())
    return text if len(text) <= OFFLINE_QUOTE_CHARS else text[: OFFLINE_QUOTE_CHARS - 1] + "…"
