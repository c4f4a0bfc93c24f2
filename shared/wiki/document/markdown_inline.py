"""Markdown's inline tokens as inline nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from shared.core.tunables import MAX_DOCUMENT_BYTES, MAX_LABEL_CHARS
from shared.wiki.document.attributes import CONTROLS
from shared.wiki.document.markdown_rules import TAG_MARKS
from shared.wiki.document.schema import MARK_RANK, JsonDict, mark, node, text
from shared.wiki.document.urls import is_safe_image, is_safe_link

# A short reference may repeat a long address: all of them together stay well below a document.
_MAX_LINK_CHARS = MAX_DOCUMENT_BYTES // 4
_CONTROLS = str.maketrans("\r\x0c", "\n ")  # which come by entities
_MARK_TOKENS = {"strong": "bold", "em": "italic", "s": "strike"}


@dataclass(slots=True)
class InlineReader:
    """Reads the inline tokens of one text. `link_chars` bounds what its links may take."""

    link_chars: int = _MAX_LINK_CHARS

    def read(self, tokens: Sequence[Token]) -> list[JsonDict]:
        """Text, hard breaks, mentions and images (which are blocks: see `split_images`)."""
        return _Run(self, paired_tags(tokens)).read(tokens)

    def link(self, token: Token) -> JsonDict | None:
        href = str(token.attrs.get("href", ""))
        title = as_label(str(token.attrs.get("title", "")))
        self.link_chars -= len(href) + len(title)
        if self.link_chars < 0 or not is_safe_link(href):
            return None
        return mark("link", href=href, title=title or None)


@dataclass(slots=True)
class _Run:
    reader: InlineReader
    paired: set[int]
    made: list[JsonDict] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    text_marks: list[JsonDict] = field(default_factory=list)
    active: dict[str, list[JsonDict]] = field(default_factory=dict)
    links: list[JsonDict | None] = field(default_factory=list)
    linked: JsonDict | None = None  # the image in the link being read, if it has no text

    def read(self, tokens: Sequence[Token]) -> list[JsonDict]:
        for index, token in enumerate(tokens):
            self._token(token, index in self.paired)
        self._flush()
        return self.made

    def _token(self, token: Token, paired: bool) -> None:
        name, _, edge = token.type.partition("_")
        if token.type in ("text", "code_inline"):
            self._text(token.content, code=token.type == "code_inline")
        elif token.type == "softbreak":
            self._text(" ")
        elif token.type == "hardbreak":
            self._add(node("hardBreak"))
        elif token.type == "wiki_mark" and paired:
            kind = TAG_MARKS[token.meta["tag"]]
            attrs = {"color": token.meta["color"]} if kind == "highlight" else {}
            self._mark(mark(kind, **attrs), closes=token.meta["close"])
        elif token.type == "wiki_mention":
            self._add(node("mention", **token.meta))
        elif token.type in ("image", "wiki_image"):
            self._image(token)
        elif name == "link":
            self._link(token, edge)
        elif name in _MARK_TOKENS:
            self._mark(mark(_MARK_TOKENS[name]), closes=edge == "close")
        else:
            self._text(token.content)

    def _marks(self, *, code: bool = False) -> list[JsonDict]:
        marks = [stack[-1] for stack in self.active.values() if stack]
        if code or any(item["type"] == "code" for item in marks):
            marks = [item for item in marks if item["type"] == "link"] + [mark("code")]
        return sorted(marks, key=lambda item: MARK_RANK[item["type"]])

    def _text(self, content: str, *, code: bool = False) -> None:
        self.linked = None
        marks = self._marks(code=code)
        if marks != self.text_marks:
            self._flush()
            self.text_marks = marks
        self.texts.append(content)

    def _flush(self) -> None:
        if content := "".join(self.texts).translate(_CONTROLS):
            self.made.append(text(content, self.text_marks))
        self.texts.clear()

    def _add(self, made: JsonDict) -> None:
        self._flush()
        if marks := self._marks():
            made["marks"] = marks
        self.made.append(made)

    def _mark(self, made: JsonDict, *, closes: bool) -> None:
        stack = self.active.setdefault(made["type"], [])
        if not closes:
            stack.append(made)
        elif stack:
            stack.pop()

    def _link(self, token: Token, edge: str) -> None:
        if edge == "open":
            made = self.reader.link(token)
            self.links.append(made)
            self.linked = None
            if made:
                self._mark(made, closes=False)
        elif made := self.links.pop():
            # An image is a block and carries no link: the link keeps a text of its own.
            if self.linked:
                self._text(self.linked["attrs"]["alt"] or made["attrs"]["href"])
            self._mark(made, closes=True)

    def _image(self, token: Token) -> None:
        given: dict[str, Any] = token.meta if token.type == "wiki_image" else token.attrs
        alt = given["alt"] if token.type == "wiki_image" and "alt" in given else plain(token)
        src = str(given.get("src", ""))
        self.reader.link_chars -= len(src)
        if not is_safe_image(src) or self.reader.link_chars < 0:
            self._text(alt)
            return
        width = given.get("width")
        made = node(
            "image",
            src=src,
            alt=as_label(alt) or None,
            title=as_label(str(given.get("title", ""))) or None,
            width=int(width) if width else None,
        )
        self._flush()
        self.made.append(made)
        self.linked = made


def paired_tags(tokens: Sequence[Token]) -> set[int]:
    """The indexes of mark tags that open and close within this text."""
    open_tags: dict[str, list[int]] = {}
    paired: set[int] = set()
    for index, token in enumerate(tokens):
        if token.type != "wiki_mark":
            continue
        waiting = open_tags.setdefault(token.meta["tag"], [])
        if not token.meta["close"]:
            waiting.append(index)
        elif waiting:
            paired |= {waiting.pop(), index}
    return paired


def plain(token: Token) -> str:
    """The text of an image's parsed alt text."""
    parts = []
    for child in token.children or []:
        parts.append(plain(child) if child.children else child.content or " ")
    return "".join(parts)


def as_label(value: str) -> str:
    """One line, bounded."""
    return CONTROLS.sub(" ", value)[:MAX_LABEL_CHARS]


def split_images(nodes: list[JsonDict]) -> list[list[JsonDict] | JsonDict]:
    """Runs of inline nodes and, between them, images. A run beside an image is trimmed."""
    if not any(item["type"] == "image" for item in nodes):
        return [nodes]
    parts: list[list[JsonDict] | JsonDict] = []
    run: list[JsonDict] = []
    for item in [*nodes, None]:
        if item and item["type"] != "image":
            run.append(item)
            continue
        if trimmed := _trimmed(run):
            parts.append(trimmed)
        if item:
            parts.append(item)
        run = []
    return parts


def _trimmed(run: list[JsonDict]) -> list[JsonDict]:
    run = [dict(item) for item in run]
    for edge, strip in ((0, str.lstrip), (-1, str.rstrip)):
        while run and run[edge]["type"] in ("text", "hardBreak"):
            if run[edge]["type"] == "text":
                run[edge]["text"] = strip(run[edge]["text"])
                if run[edge]["text"]:
                    break
            del run[edge]
    return run
