"""Inline nodes as Markdown that reads back as the same nodes.

A mark is written with its delimiter where CommonMark's flanking rules leave no doubt about
it, and as an HTML tag elsewhere. Text keeps its looks: only what would be read as markup is
escaped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace

from shared.wiki.document.schema import MARK_RANK, JsonDict

_DELIMITERS: Final = {"bold": "**", "italic": "_", "strike": "~~"}
_TAGS: Final = {
    "bold": "strong",
    "italic": "em",
    "strike": "s",
    "underline": "u",
    "superscript": "sup",
    "subscript": "sub",
    "highlight": "mark",
    "code": "code",
}
BREAK_TAG: Final = "<br>"
_BREAK_LINE: Final = "\\\n"

_SPECIAL = re.compile(r"[\\`*\[\]_~\n\r]|<(?=[A-Za-z/!?]|$)|&(?=#?\w+;)")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_PLAIN_ADDRESS = re.compile(r"[^\s<>()\\&]+")
_AUTOLINK = re.compile(r"https?:[^<>\s]+", re.ASCII)
_BACKTICKS = re.compile("`+")
# Read as text even at the edge of a line, unlike all other white space.
_NOT_TRIMMED: Final = "\x1c\x1d\x1e\x1f\x85"


@dataclass(slots=True)
class _Piece:
    """Rendered text, or the edge of a mark (`edge` 1 opens, -1 closes)."""

    text: str
    mark: JsonDict | None = None
    edge: int = 0


def inline_markdown(nodes: Sequence[JsonDict], *, one_line: bool) -> str:
    """Markdown for the content of a paragraph, or in one line for a heading or a table cell.

    White space at the edges of its lines is written as entities.
    """
    pieces = _pieces(nodes, one_line=one_line)
    _render_marks(pieces)
    lines = "".join(piece.text for piece in pieces).split("\n")
    return "\n".join(_keep_edges(line) for line in lines)


def escape_text(text: str) -> str:
    """The text with everything escaped that would be inline markup."""
    return _SPECIAL.sub(_escaped, text)


def address_markdown(address: str, title: str | None) -> str:
    """What stands between the parentheses of a link or an image."""
    if not _PLAIN_ADDRESS.fullmatch(address):
        address = "<" + _ENTITY.sub("&amp;", re.sub(r"([\\<>])", r"\\\1", address)) + ">"
    if title is None:
        return address
    return address + ' "' + _ENTITY.sub("&amp;", re.sub(r'([\\"])', r"\\\1", title)) + '"'


def image_markdown(attrs: JsonDict) -> str:
    """An image; as a tag when it has a width."""
    if attrs["width"] is None:
        alt = escape_text(attrs["alt"] or "")
        return f"![{alt}]({address_markdown(attrs['src'], attrs['title'])})"
    given = {name: attrs[name] for name in ("src", "alt", "title", "width") if attrs[name]}
    return "<img" + "".join(f' {name}="{escape(str(v))}"' for name, v in given.items()) + ">"


def _escaped(match: re.Match[str]) -> str:
    char, text, at = match[0], match.string, match.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == "&":
        return "&amp;"
    if char in "\r\n":
        return f"&#{ord(char)};"
    if char == "_" and before.isalnum() and after.isalnum():
        return char
    if char == "~" and before not in ("", "~") and after not in ("", "~"):
        return char
    return "\\" + char


def _keep_edges(line: str) -> str:
    if line[:1].isspace() and line[0] not in _NOT_TRIMMED:
        line = f"&#{ord(line[0])};{line[1:]}"
    if line[-1:].isspace() and line[-1] not in _NOT_TRIMMED:
        line = f"{line[:-1]}&#{ord(line[-1])};"
    return line


def _pieces(nodes: Sequence[JsonDict], *, one_line: bool) -> list[_Piece]:
    runs = _run_lengths(nodes)
    pieces: list[_Piece] = []
    open_marks: list[str] = []
    known: dict[str, JsonDict] = {}
    for index, node in enumerate(nodes):
        runs_here, text = runs[index], _node(node, one_line or index == len(nodes) - 1)
        if node["type"] == "text" and _is_autolink(node, index, runs):
            runs_here = {key: n for key, n in runs_here.items() if not key.startswith("link")}
            text = f"<{node['text']}>"
        known |= {_key(mark): mark for mark in node.get("marks", [])}
        while not set(open_marks) <= set(runs_here):
            pieces.append(_Piece("", known[open_marks.pop()], -1))
        wanted = [key for key in runs_here if key not in open_marks]
        for key in sorted(wanted, key=lambda key: -runs_here[key]):
            open_marks.append(key)
            pieces.append(_Piece("", known[key], 1))
        pieces.append(_Piece(text))
    pieces.extend(_Piece("", known[key], -1) for key in reversed(open_marks))
    return pieces


def _key(mark: JsonDict) -> str:
    return f"{mark['type']} {mark.get('attrs')}"


def _run_lengths(nodes: Sequence[JsonDict]) -> list[dict[str, int]]:
    """For each node its marks, and through how many nodes each of them goes on."""
    runs: list[dict[str, int]] = []
    following: dict[str, int] = {}
    for node in reversed(nodes):
        marks = sorted(node.get("marks", []), key=lambda mark: MARK_RANK[mark["type"]])
        keys = [_key(mark) for mark in marks if not (mark["type"] == "code" and _is_span(node))]
        following = {key: following.get(key, 0) + 1 for key in keys}
        runs.append(following)
    runs.reverse()
    return runs


def _is_span(node: JsonDict) -> bool:
    return node["type"] == "text" and "\n" not in node["text"]


def _is_autolink(node: JsonDict, index: int, runs: list[dict[str, int]]) -> bool:
    marks = {mark["type"]: mark for mark in node.get("marks", [])}
    link = marks.get("link")
    if link is None or "code" in marks or link["attrs"]["title"] is not None:
        return False
    key = _key(link)
    alone = runs[index].get(key) == 1 and not (index and key in runs[index - 1])
    return (
        alone and link["attrs"]["href"] == node["text"] and bool(_AUTOLINK.fullmatch(node["text"]))
    )


def _node(node: JsonDict, break_as_tag: bool) -> str:
    if node["type"] == "hardBreak":
        return BREAK_TAG if break_as_tag else _BREAK_LINE
    if node["type"] == "mention":
        return _mention(node["attrs"])
    if _is_span(node) and any(mark["type"] == "code" for mark in node.get("marks", [])):
        return _code_span(node["text"])
    return escape_text(node["text"])


def _mention(attrs: dict[str, Any]) -> str:
    return (
        f'<span data-type="mention" data-id="{escape(attrs["id"])}"'
        f' data-entity-type="{attrs["entityType"]}">@{escape(attrs["label"])}</span>'
    )


def _code_span(code: str) -> str:
    used = {len(run) for run in _BACKTICKS.findall(code)}
    fence = "`" * next(length for length in range(1, len(used) + 2) if length not in used)
    edged = code[0] == "`" or code[-1] == "`"
    padded = code[0] == " " == code[-1] and code.strip(" ")
    pad = " " if edged or padded else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def _render_marks(pieces: list[_Piece]) -> None:
    """Gives every mark's edges their text; both edges of one mark get the same form."""
    waiting: list[int] = []
    for index, piece in enumerate(pieces):
        if piece.edge == 1:
            waiting.append(index)
        elif piece.edge == -1:
            _render_pair(pieces, waiting.pop(), index)


def _render_pair(pieces: list[_Piece], start: int, end: int) -> None:
    mark = pieces[start].mark or {}
    kind = mark["type"]
    if kind == "link":
        attrs = mark["attrs"]
        pieces[start].text = "["
        if start and pieces[start - 1].text.endswith("!"):
            pieces[start - 1].text = pieces[start - 1].text[:-1] + "\\!"  # no image
        pieces[end].text = f"]({address_markdown(attrs['href'], attrs['title'])})"
    elif kind in _DELIMITERS and _opens(pieces, start) and _closes(pieces, end):
        pieces[start].text = pieces[end].text = _DELIMITERS[kind]
    else:
        color = (mark.get("attrs") or {}).get("color")
        given = f' data-color="{escape(color)}"' if color else ""
        pieces[start].text = f"<{_TAGS[kind]}{given}>"
        pieces[end].text = f"</{_TAGS[kind]}>"


def _opens(pieces: list[_Piece], index: int) -> bool:
    left, right = _flanking(pieces, index)
    return left and not right


def _closes(pieces: list[_Piece], index: int) -> bool:
    left, right = _flanking(pieces, index)
    return right and not left


def _flanking(pieces: list[_Piece], index: int) -> tuple[bool, bool]:
    """(left-flanking, right-flanking) as CommonMark 0.31 defines them."""
    before = _class(pieces[index - 1], -1) if index else "space"
    after = _class(pieces[index + 1], 0) if index + 1 < len(pieces) else "space"
    left = after == "word" or (after == "punctuation" and before != "word")
    right = before == "word" or (before == "punctuation" and after != "word")
    return left, right


def _class(piece: _Piece, edge: int) -> str:
    if piece.mark is not None:
        return "punctuation"  # whatever form the mark takes
    char = piece.text[edge]
    if isWhiteSpace(ord(char)):
        return "space"
    return "punctuation" if isMdAsciiPunct(ord(char)) or isPunctChar(char) else "word"
