"""Markdown to a document. Never fails: what cannot be held as structure is held as text."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any, Final

from markdown_it.token import Token

from shared.core.tunables import DOCUMENT_OFFLOAD_BYTES, MAX_DOCUMENT_DEPTH, MAX_MARKDOWN_CHARS
from shared.wiki.document.attributes import LANGUAGE, MAX_LIST_START, MAX_PIXELS, MAX_SPAN
from shared.wiki.document.cleaning import clean_text
from shared.wiki.document.errors import InvalidDocumentError
from shared.wiki.document.front_matter import split_front_matter
from shared.wiki.document.markdown_inline import InlineReader, split_images
from shared.wiki.document.markdown_rules import CALLOUT_ALIASES, parser
from shared.wiki.document.markers import pair_markers
from shared.wiki.document.schema import JsonDict, mark, node, text
from shared.wiki.document.text import inline_text

EMPTY_PARAGRAPH: Final = "<p></p>"

_TASK = re.compile(r"\[([ xX])\](?:[ \t]+|(?=\n)|$)")
_ALERT = re.compile(r"\[!([A-Za-z]+)\][ \t]*(?=\n|$)")

# How many levels stand at least inside a container: a paragraph and its text, and between
# them and a list or a table the items, rows and cells.
_ROOM: Final = {
    "blockquote": 2,
    "callout": 2,
    "bulletList": 3,
    "orderedList": 3,
    "listItem": 2,
    "table": 4,
    "tableRow": 3,
    "tableHeader": 2,
    "tableCell": 2,
}
_PARENTS: Final = {
    "listItem": ("bulletList", "orderedList"),
    "tableRow": ("table",),
    "tableHeader": ("tableRow",),
    "tableCell": ("tableRow",),
}
_CONTAINERS: Final = {
    "blockquote": "blockquote",
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "list_item": "listItem",
    "table": "table",
    "tr": "tableRow",
    "th": "tableHeader",
    "td": "tableCell",
}


@dataclass(frozen=True, slots=True)
class ParsedMarkdown:
    """`title` is the text of the level 1 heading that the document begins with, or None.

    The heading is still in `doc`; `split_title` takes it out. `doc` has no block ids.
    """

    front_matter: dict[str, Any]
    title: str | None
    doc: JsonDict


def from_markdown(source: str) -> ParsedMarkdown:
    """Reads any text. NULs are dropped, lone surrogates become U+FFFD, nesting is bounded."""
    text = clean_text(source).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front_matter, body = split_front_matter(text)
    tokens = parser().parse(body, {})
    pair_markers(tokens)
    doc = _Builder().build(tokens)
    return ParsedMarkdown(front_matter, _leading_title(doc), doc)


async def from_markdown_async(source: str) -> ParsedMarkdown:
    """`from_markdown`, in a thread when the text is large enough to hold up the event loop.

    Raises InvalidDocumentError for a text longer than MAX_MARKDOWN_CHARS.
    """
    if len(source) > MAX_MARKDOWN_CHARS:
        raise InvalidDocumentError(f"the text is longer than {MAX_MARKDOWN_CHARS} characters")
    if len(source) > DOCUMENT_OFFLOAD_BYTES:
        return await asyncio.to_thread(from_markdown, source)
    return from_markdown(source)


def split_title(parsed: ParsedMarkdown) -> ParsedMarkdown:
    """The same with the heading that gave the title taken out of the document."""
    if parsed.title is None:
        return parsed
    rest = parsed.doc["content"][1:] or [node("paragraph")]
    return ParsedMarkdown(parsed.front_matter, parsed.title, {**parsed.doc, "content": rest})


def _leading_title(doc: JsonDict) -> str | None:
    first = doc["content"][0]
    if first["type"] != "heading" or first["attrs"]["level"] != 1:
        return None
    return " ".join(inline_text(first.get("content", [])).split()) or None


@dataclass(slots=True)
class _Frame:
    """A container under construction. `checked` is a list item's box, `tasks` its list's."""

    kind: str
    attrs: dict[str, Any] = field(default_factory=dict)
    content: list[JsonDict] = field(default_factory=list)
    checked: bool | None = None
    tasks: list[bool | None] = field(default_factory=list)


@dataclass(slots=True)
class _Builder:
    """Folds block tokens into a tree with an explicit stack.

    A container that would go too deep, or that stands where the schema has no place for it,
    is left out and its content goes into the container around it.
    """

    frames: list[_Frame] = field(default_factory=lambda: [_Frame("doc")])
    opened: list[_Frame | None] = field(default_factory=list)
    inline: InlineReader = field(default_factory=InlineReader)
    heading: int | None = None

    def build(self, tokens: list[Token]) -> JsonDict:
        for token in tokens:
            self._token(token)
        return node("doc", self.frames[0].content or [node("paragraph")])

    def _token(self, token: Token) -> None:
        name, _, edge = token.type.rpartition("_")
        if name in _CONTAINERS:
            if edge == "open":
                self._open(_CONTAINERS[name], **self._attrs(token))
            else:
                self._close()
        elif token.type == "heading_open":
            self.heading = int(token.tag[1:])
        elif token.type == "inline":
            self._inline(token)
        elif token.type in ("fence", "code_block"):
            self._code(token)
        elif token.type == "hr":
            self._add(node("horizontalRule"))
        elif token.type == "wiki_marker":
            self._marker(token)

    def _attrs(self, token: Token) -> dict[str, Any]:
        if token.type != "ordered_list_open":
            return {}
        return {"start": min(int(token.attrs.get("start", 1)), MAX_LIST_START)}

    def _open(self, kind: str, **attrs: Any) -> None:
        fits = len(self.frames) + 1 + _ROOM[kind] <= MAX_DOCUMENT_DEPTH
        around = self.frames[-1].kind
        parents = _PARENTS.get(kind)
        misplaced = around not in parents if parents else around in ("table", "tableRow")
        if not fits or misplaced:
            self.opened.append(None)
            return
        frame = _Frame(kind, attrs)
        self.frames.append(frame)
        self.opened.append(frame)

    def _close(self) -> None:
        frame = self.opened.pop()
        if frame is None:
            return
        self.frames.pop()
        if frame.kind == "listItem":
            self.frames[-1].tasks.append(frame.checked)
        for made in _finished(frame):
            self._add(made)

    def _add(self, block: JsonDict) -> None:
        frame = self.frames[-1]
        # A block directly in one of our tables or rows gets the cell it lacks.
        if frame.kind == "tableRow" and block["type"] not in ("tableCell", "tableHeader"):
            block = node("tableCell", [block])
        elif frame.kind == "table" and block["type"] != "tableRow":
            block = node("tableRow", [node("tableCell", [block])])
        frame.content.append(block)

    def _inline(self, token: Token) -> None:
        level, self.heading = self.heading, None
        if level is None and token.content == EMPTY_PARAGRAPH:
            self._add(node("paragraph"))
            return
        if level is None and self._first_line(token):
            return
        nodes = self.inline.read(token.children or [])
        if level is not None:
            images = [item for item in nodes if item["type"] == "image"]
            words = [item for item in nodes if item["type"] != "image"]
            if words or not images:
                self._add(node("heading", words, level=level))
            for image in images:
                self._add(image)
            return
        for part in split_images(nodes):
            self._add(node("paragraph", part) if isinstance(part, list) else part)

    def _first_line(self, token: Token) -> bool:
        """Takes a task's box or an alert's name off a container's first paragraph.

        True when nothing else was in it and no paragraph is wanted.
        """
        frame, children = self.frames[-1], token.children or []
        first = children[0] if children else None
        if frame.content or first is None or first.type != "text":
            return False
        if frame.kind == "listItem" and self.frames[-2].kind == "bulletList":
            match = _TASK.match(token.content)
            if match and first.content.startswith(match[0].rstrip(" \t")):
                frame.checked = match[1] != " "
                _cut(token, match.end())
        elif frame.kind == "blockquote":
            match = _ALERT.match(token.content)
            kind = CALLOUT_ALIASES.get(match[1].lower()) if match else None
            if match and kind and first.content.startswith(match[0].rstrip(" \t")):
                frame.kind, frame.attrs = "callout", {"type": kind}
                _cut(token, match.end())
                return not children
        return False

    def _code(self, token: Token) -> None:
        code = token.content.removesuffix("\n")
        words = token.info.split()
        language = words[0] if words and LANGUAGE.fullmatch(words[0]) else None
        self._add(node("codeBlock", [text(code, [])] if code else None, language=language))

    def _marker(self, token: Token) -> None:
        meta = token.meta
        if "close" in meta:
            self._close()
        elif "type" in meta:
            self._open("callout", type=meta["type"])
            if meta["title"]:
                self._add(node("paragraph", [text(meta["title"], [mark("bold")])]))
        elif "open" in meta:
            self._open(_CONTAINERS[meta["open"]], **_cell_attrs(meta["attributes"]))
        elif not meta.get("drop"):
            self._add(node("paragraph", [text(token.content, [])]))


def _cut(token: Token, count: int) -> None:
    """Takes `count` characters off an inline token, and the line's end if that comes next."""
    children = token.children or []
    children[0].content = children[0].content[count:]
    if not children[0].content:
        del children[0]
    if token.content[count : count + 1] == "\n":
        del children[0]


def _cell_attrs(given: dict[str, str]) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    for name in ("colspan", "rowspan"):
        value = given.get(name, "")
        if value.isdecimal() and 1 <= int(value[:9]) <= MAX_SPAN:
            attrs[name] = int(value)
    widths = given.get("colwidth", "").split(",")
    if len(widths) <= MAX_SPAN and all(w.isdecimal() and int(w[:9]) <= MAX_PIXELS for w in widths):
        attrs["colwidth"] = [int(width) for width in widths]
    return attrs


def _finished(frame: _Frame) -> list[JsonDict]:
    """The frame's nodes in normal form: none for a table without rows, several for a list
    whose items are tasks only in part."""
    content = frame.content
    if frame.kind in ("bulletList", "orderedList"):
        return _lists(frame)
    if frame.kind == "table" and not content:
        return []
    if frame.kind == "listItem" and (not content or content[0]["type"] != "paragraph"):
        content = [node("paragraph"), *content]
    elif frame.kind != "tableRow":
        content = content or [node("paragraph")]
    return [node(frame.kind, content, **frame.attrs)]


def _lists(frame: _Frame) -> list[JsonDict]:
    made: list[JsonDict] = []
    for item, checked in zip(frame.content, frame.tasks, strict=True):
        kind = frame.kind
        if checked is not None:
            kind, item = "taskList", node("taskItem", item["content"], checked=checked)
        if made and made[-1]["type"] == kind:
            made[-1]["content"].append(item)
        else:
            made.append(node(kind, [item], **frame.attrs))
    return made
