"""The Markdown that Pageturn reads: CommonMark, GFM tables and strikethrough, and a few forms
of our own for what Markdown cannot hold.

Block forms, each on lines of their own and produced as flat tokens that `markers` pairs:
`:::type` and `:::` around a callout; `<table data-type="table">`, `<tr>`, `<th>`, `<td>` and
their closing tags around a table that GFM cannot say; `[#id]` before a block, which is read
and dropped. Inline forms: the tags of `TAG_MARKS`, `<br>`, `<img>` and a mention's `<span>`.
Any other HTML is text.
"""

import re
from functools import cache
from html import unescape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline import image as image_rule

from shared.core.tunables import MAX_DOCUMENT_DEPTH
from shared.wiki.document.attributes import (
    COLOR,
    IDENTIFIER,
    MAX_PIXELS,
    MENTION_TYPES,
    is_label,
)
from shared.wiki.document.urls import is_safe_image, is_safe_link

# The doc stands outside the outermost container, a paragraph and its text in the innermost.
_MAX_LEVEL: Final = MAX_DOCUMENT_DEPTH - 3
_MAX_BRACKET_NESTING: Final = 10
_MAX_IMAGE_NESTING: Final = 2  # images in alt texts: each level is parsed anew

CALLOUT_ALIASES: Final = {
    "info": "info",
    "important": "info",
    "note": "note",
    "tip": "tip",
    "hint": "tip",
    "success": "success",
    "check": "success",
    "warning": "warning",
    "danger": "danger",
    "caution": "danger",
    "error": "danger",
}
TAG_MARKS: Final = {
    "strong": "bold",
    "b": "bold",
    "em": "italic",
    "i": "italic",
    "s": "strike",
    "del": "strike",
    "u": "underline",
    "ins": "underline",
    "sup": "superscript",
    "sub": "subscript",
    "mark": "highlight",
    "code": "code",
}

_CALLOUT_OPEN = re.compile(r"(:{3,})[ \t]*([A-Za-z]+)(?![\w-])[ \t]*(.*)")
_CALLOUT_CLOSE = re.compile(r"(:{3,})")
_TABLE_TAG = re.compile(
    r'<(table data-type="table"|tr|(?:td|th)(?: (?:colspan|rowspan|colwidth)="[0-9,]{1,9999}")*)>'
    r"|</(table|tr|td|th)>"
)
_BLOCK_ID = re.compile(r"\[#[a-z0-9]{12}\]")

_ATTRIBUTES = r"((?:\s+[a-zA-Z-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*"
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARK_TAG = re.compile(
    rf"<(/?)({'|'.join(TAG_MARKS)})(?: data-color=\"([^\"<>]*)\")?>", re.IGNORECASE
)
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_IMAGE_TAG = re.compile(rf"<img{_ATTRIBUTES}/?>", re.IGNORECASE)
_MENTION_TAG = re.compile(rf"<span(?=\s+data-type=\"mention\"){_ATTRIBUTES}>@([^<>]*)</span>")


@cache
def parser() -> MarkdownIt:
    """The parser with these rules. It keeps nothing between texts."""
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_DOCUMENT_DEPTH})
    md.enable(["table", "strikethrough"])
    md.disable(["html_block", "html_inline"])
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("table", "wiki_too_deep", _too_deep)
    md.block.ruler.before("table", "wiki_marker", _marker, interrupts)
    md.inline.ruler.before("text", "wiki_too_nested", _too_nested)
    md.inline.ruler.before("autolink", "wiki_tag", _tag)
    md.inline.ruler.at("image", _image)
    # Addresses are kept as written; which of them are taken is decided in one place.
    rules: Any = md
    rules.normalizeLink = rules.normalizeLinkText = str
    rules.validateLink = is_safe_link
    return md


def attributes_of(source: str) -> dict[str, str]:
    """The attributes in a tag's source, names in lower case, entities decoded."""
    return {
        match[1].lower(): unescape(match[2] if match[2] is not None else match[3])
        for match in _ATTRIBUTE.finditer(source)
    }


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Beyond the depth that a document may have, lines are text whatever they hold."""
    if silent or state.level <= _MAX_LEVEL:
        return False
    last = start + 1
    while last < end and not state.isEmpty(last) and state.sCount[last] >= state.blkIndent:
        last += 1
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, last, state.blkIndent, False).strip(" \t\n")
    inline.children = []
    state.push("paragraph_close", "p", -1)
    state.line = last
    return True


def _too_nested(state: StateInline, silent: bool) -> bool:
    """Ends the search for a bracket's partner, which costs as much as it may nest."""
    if not silent or state.level <= _MAX_BRACKET_NESTING:
        return False
    state.pos = state.posMax
    return True


def _marker(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """A line that opens or closes one of our block forms."""
    begin = state.bMarks[start] + state.tShift[start]
    if state.src[begin : begin + 1] not in (":", "<", "[") or state.is_code_block(start):
        return False
    line = state.src[begin : state.eMarks[start]].rstrip(" \t")
    meta = _marker_meta(line, top=state.level == 0)
    if meta is None:
        return False
    if not silent:
        token = state.push("wiki_marker", "", 0)
        token.content = line
        token.meta = meta
        state.line = start + 1
    return True


def _marker_meta(line: str, *, top: bool) -> dict[str, Any] | None:
    if match := _CALLOUT_CLOSE.fullmatch(line):
        return {"close": match[1]}
    if match := _CALLOUT_OPEN.fullmatch(line):
        kind = CALLOUT_ALIASES.get(match[2].lower())
        return {"open": match[1], "type": kind, "title": match[3].strip("[]")} if kind else None
    if match := _TABLE_TAG.fullmatch(line):
        if match[2]:
            return {"close": match[2]}
        name = match[1].split(" ", 1)[0]
        return {"open": name, "attributes": attributes_of(match[1])}
    return {"drop": True} if top and _BLOCK_ID.fullmatch(line) else None


def _tag(state: StateInline, silent: bool) -> bool:
    """One of our inline forms, or nothing: then the `<` is text."""
    if state.src[state.pos] != "<":
        return False
    for pattern, read in _TAGS.items():
        match = pattern.match(state.src, state.pos, state.posMax)
        found = read(match) if match else None
        if match and found:
            if not silent:
                kind, meta = found
                token = state.push(kind, "", 0)
                token.content = match[0]
                token.meta = meta
            state.pos = match.end()
            return True
    return False


Found = tuple[str, dict[str, Any]] | None


def _read_mark(match: re.Match[str]) -> Found:
    color = unescape(match[3]) if match[3] else None
    if color and (match[2].lower() != "mark" or match[1] or not COLOR.fullmatch(color)):
        return None
    return "wiki_mark", {"tag": match[2].lower(), "close": bool(match[1]), "color": color}


def _read_break(_match: re.Match[str]) -> Found:
    return "hardbreak", {}


def _read_image(match: re.Match[str]) -> Found:
    given = attributes_of(match[1])
    if not is_safe_image(given.get("src", "")):
        return None
    width = given.get("width", "").removesuffix("px")
    if not width.isascii() or not width.isdecimal() or not 1 <= int(width[:9]) <= MAX_PIXELS:
        width = ""
    given["width"] = width
    return "wiki_image", given


def _read_mention(match: re.Match[str]) -> Found:
    given = attributes_of(match[1])
    made = {
        "id": given.get("data-id", ""),
        "label": unescape(match[2]),
        "entityType": given.get("data-entity-type", ""),
    }
    valid = IDENTIFIER.fullmatch(made["id"]) and made["entityType"] in MENTION_TYPES
    return ("wiki_mention", made) if valid and is_label(made["label"]) else None


_TAGS: Final = {
    _MARK_TAG: _read_mark,
    _BREAK_TAG: _read_break,
    _IMAGE_TAG: _read_image,
    _MENTION_TAG: _read_mention,
}


def _image(state: StateInline, silent: bool) -> bool:
    """The stock rule, which parses an alt text by recursion, kept from going deep."""
    nesting = state.env.get("image_nesting", 0)
    if nesting >= _MAX_IMAGE_NESTING:
        return False
    state.env["image_nesting"] = nesting + 1
    try:
        return image_rule(state, silent)
    finally:
        state.env["image_nesting"] = nesting
