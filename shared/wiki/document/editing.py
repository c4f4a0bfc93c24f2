"""Literal edits of a document's text: `find` becomes `replace`, everything else stays.

A text is looked for within one block (paragraph, heading, code), across its marks; a hard
break is a `\\n`, a mention is nothing that can be found. What stays of a found text keeps its
marks, what is new gets those of what it replaces. A `find` that the document does not hold as
it is written is also read as Markdown, since it may have been copied from there; `replace` is
then read in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from shared.core.tunables import EDIT_BREAK_BYTES, MAX_DOCUMENT_BYTES, MAX_EDIT_REPLACEMENTS
from shared.wiki.document.cleaning import clean_text
from shared.wiki.document.ids import copy_blocks, walk_blocks
from shared.wiki.document.inline_range import InlineRange, Parts
from shared.wiki.document.near_miss import why_absent
from shared.wiki.document.reading import read
from shared.wiki.document.schema import SCHEMA, JsonDict

_EMPTY = "find is empty: give the text that is to be replaced."
_EQUAL = "find and replace are equal: nothing would change."
_FORMATTING = (
    "find and replace differ only in Markdown markup. An edit of text leaves formatting and "
    "link addresses as they are."
)
_OTHER_MARKUP = (
    "replace has other Markdown markup than find. An edit of text leaves formatting and link "
    "addresses as they are: give both as plain text."
)
_TOO_LARGE = f"the page would be larger than {MAX_DOCUMENT_BYTES} bytes."


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One edit. `find` must be in the document just once, unless `replace_all`."""

    find: str
    replace: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What became of an edit: how many texts it replaced, or the reason why it was refused."""

    edit: TextEdit
    replacements: int = 0
    reason: str | None = None


def edit_text(doc: JsonDict, edits: Sequence[TextEdit]) -> tuple[JsonDict, list[EditOutcome]]:
    """The document after the edits, each made on the result of the one before.

    Takes a document in normal form and leaves it unchanged; gives one in normal form, unless
    it has become too large. Blocks stay, each with its id, though one may become empty.
    """
    page = _Page(doc)
    outcomes = []
    for edit in edits:
        try:
            outcomes.append(EditOutcome(edit, replacements=page.apply(edit)))
        except _RefusedError as refused:
            outcomes.append(EditOutcome(edit, reason=refused.reason))
    return page.doc, outcomes


class _RefusedError(Exception):
    def __init__(self, reason: str) -> None:
        self.reason = reason


_Places = dict[int, list[int]]  # by a block's index, the offsets in its text


class _Page:
    def __init__(self, doc: JsonDict) -> None:
        self.doc = copy_blocks(doc)
        self.blocks = [b for b in walk_blocks(self.doc) if SCHEMA.nodes[b["type"]].is_textblock]
        self.inlines = [InlineRange(block) for block in self.blocks]
        self.room = MAX_DOCUMENT_BYTES - len(orjson.dumps(doc))

    def apply(self, edit: TextEdit) -> int:
        """How many texts were replaced. Raises _RefusedError."""
        find, replace = _cleaned(edit.find), _cleaned(edit.replace)
        if not find:
            raise _RefusedError(_EMPTY)
        if find == replace:
            raise _RefusedError(_EQUAL)
        parts = [(find, replace)]
        places = self._places(find, edit)
        if not places:
            parts = self._as_markdown(find, replace)
            places = self._places("".join(old for old, _ in parts), edit)
        elif _only_formats(find, replace) and not self._only_code(places):
            raise _RefusedError(_FORMATTING)
        count = sum(map(len, places.values()))
        self._check(edit, count, parts)
        for index, starts in places.items():
            self._replace(index, starts, parts)
        return count

    def _places(self, find: str, edit: TextEdit) -> _Places:
        """Where a text is, as far as one edit may go and one place further."""
        places: _Places = {}
        left = MAX_EDIT_REPLACEMENTS + 1
        step = len(find) if edit.replace_all else 1  # "aa" is twice in "aaa"
        for index, inline in enumerate(self.inlines):
            at = inline.text.find(find)
            while at >= 0 and left:
                places.setdefault(index, []).append(at)
                left -= 1
                at = inline.text.find(find, at + step)
        return places

    def _only_code(self, places: _Places) -> bool:
        return all(self.inlines[index].code for index in places)

    def _as_markdown(self, find: str, replace: str) -> Parts:
        """Both as plain text, piece by piece where their Markdown is the same."""
        found, wanted = read(find), read(replace)
        if found.text == wanted.text:
            raise _RefusedError(_FORMATTING)
        if not found.runs or not any(found.text in inline.text for inline in self.inlines):
            raise _RefusedError(why_absent(found.text, [inline.text for inline in self.inlines]))
        if wanted.runs and wanted.markup == found.markup:
            return list(zip(found.runs, wanted.runs, strict=True))
        if wanted.text != replace:
            raise _RefusedError(_OTHER_MARKUP)
        return [(found.text, replace)]

    def _check(self, edit: TextEdit, count: int, parts: Parts) -> None:
        if count > MAX_EDIT_REPLACEMENTS:
            raise _RefusedError(f"find is there more than {MAX_EDIT_REPLACEMENTS} times.")
        if count > 1 and not edit.replace_all:
            raise _RefusedError(
                f"find is there {count} times. Give it with more of the words around it, "
                "or set replaceAll."
            )
        growth = count * sum(_bytes(new) - _bytes(old) for old, new in parts)
        if growth > self.room:
            raise _RefusedError(_TOO_LARGE)
        self.room -= growth

    def _replace(self, index: int, starts: Sequence[int], parts: Parts) -> None:
        block = self.blocks[index]
        content = self.inlines[index].replaced(starts, parts)
        if content:
            block["content"] = content
        else:
            block.pop("content", None)
        self.inlines[index] = InlineRange(block)


def _bytes(said: str) -> int:
    return len(said.encode()) + EDIT_BREAK_BYTES * said.count("\n")


def _only_formats(find: str, replace: str) -> bool:
    """Do a plain text and another differ only in the other's markup? A line break is none."""
    if find.count("\n") != replace.count("\n"):
        return False
    return read(replace).text.replace("\n", " ") == find.replace("\n", " ")


def _cleaned(given: str) -> str:
    return clean_text(given).replace("\r\n", "\n").replace("\r", "\n")
