"""A document as Markdown that `from_markdown` reads back as the same document, ids aside."""

import re
from typing import Final

from shared.wiki.document.inline_out import image_markdown, inline_markdown
from shared.wiki.document.markdown_in import EMPTY_PARAGRAPH
from shared.wiki.document.schema import JsonDict

_RULE: Final = "---"
_FIRST_RULE: Final = "***"  # three hyphens at the very beginning would open front matter
_BULLETS: Final = ("-", "*")
_LISTS: Final = {"bulletList": "bullet", "taskList": "bullet", "orderedList": "ordered"}
_MAX_NUMBER: Final = 999_999_999

_LINE_START = re.compile(
    r"^(?:(?=#{1,6}(?:[ \t]|$)|>|[-+](?:[ \t|:-]|$)|=|:[:-]|\|)"
    r"|(?P<number>\d{1,9})(?=[.)](?:[ \t]|$)))"
)
_CLOSING_HASHES = re.compile(r"(?:(?<=[ \t])|^)(?=#+$)")


def to_markdown(doc: JsonDict, *, block_ids: bool = False) -> str:
    """Markdown for a document in normal form.

    With `block_ids`, a line `[#id]` stands before each top-level block that has an id;
    `from_markdown` drops such lines.
    """
    rendered = _rendered(doc["content"], keep_empty=block_ids)
    if block_ids:
        ids = [child["attrs"]["id"] for child in doc["content"]]
        rendered = [
            f"[#{name}]\n{text}" if name else text for name, text in zip(ids, rendered, strict=True)
        ]
    return _begun("\n\n".join(rendered))


def _begun(text: str) -> str:
    """The text with what is special at the very beginning of a file said otherwise."""
    if text.startswith("\ufeff"):
        return "&#65279;" + text[1:]
    return _FIRST_RULE + text.removeprefix(_RULE) if text.startswith(_RULE) else text


def _is_empty(node: JsonDict) -> bool:
    return node["type"] == "paragraph" and not node.get("content")


def _blocks(nodes: list[JsonDict]) -> str:
    return "\n\n".join(_rendered(nodes))


def _rendered(nodes: list[JsonDict], *, keep_empty: bool = False) -> list[str]:
    """The Markdown of each block. Neighbouring lists get different markers, or they would be
    read as one list. A lone empty paragraph is nothing, as it is what an empty container gets.
    """
    if len(nodes) == 1 and _is_empty(nodes[0]) and not keep_empty:
        return [""]
    rendered = []
    last_family, variant = None, 0
    for node in nodes:
        family = _LISTS.get(node["type"])
        variant = 1 - variant if family and family == last_family else 0
        last_family = family
        rendered.append(_block(node, variant))
    return rendered


def _block(node: JsonDict, variant: int) -> str:
    kind, content = node["type"], node.get("content", [])
    if kind == "paragraph":
        return _paragraph(content) or EMPTY_PARAGRAPH
    if kind == "heading":
        return _heading(node["attrs"]["level"], content)
    if kind in _LISTS:
        return _list(node, variant)
    if kind == "codeBlock":
        return _code(node)
    if kind == "blockquote":
        return _prefixed(_blocks(content), "> ", "> ")
    if kind == "callout":
        return _lines(f":::{node['attrs']['type']}", _blocks(content), ":::")
    if kind == "image":
        return image_markdown(node["attrs"])
    return _table(node) if kind == "table" else _RULE


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _prefixed(text: str, first: str, rest: str) -> str:
    """The text with a prefix on its first line and one on the others; none ends in a space."""
    lines = text.split("\n")
    prefixes = [first] + [rest] * (len(lines) - 1)
    pairs = zip(prefixes, lines, strict=True)
    return "\n".join(prefix + line if line else prefix.rstrip(" ") for prefix, line in pairs)


def _paragraph(content: list[JsonDict]) -> str:
    lines = inline_markdown(content, one_line=False).split("\n")
    return "\n".join(_LINE_START.sub(r"\g<number>\\", line) for line in lines)


def _heading(level: int, content: list[JsonDict]) -> str:
    words = _CLOSING_HASHES.sub(r"\\", inline_markdown(content, one_line=True))
    return f"{'#' * level} {words}" if words else "#" * level


def _code(node: JsonDict) -> str:
    code = "".join(item["text"] for item in node.get("content", []))
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    opening = fence + (node["attrs"]["language"] or "")
    return f"{opening}\n{code}\n{fence}" if code else f"{opening}\n{fence}"


def _list(node: JsonDict, variant: int) -> str:
    items = []
    for index, item in enumerate(node["content"]):
        marker = _BULLETS[variant]
        if node["type"] == "orderedList":
            number = min(node["attrs"]["start"] + index, _MAX_NUMBER)
            marker = f"{number}{'.)'[variant]}"
        box = ""
        if node["type"] == "taskList":
            box = "[x]" if item["attrs"]["checked"] else "[ ]"
        marker += " "
        items.append(_prefixed(_item(item["content"], box), marker, " " * len(marker)))
    return "\n".join(items)


def _item(content: list[JsonDict], box: str) -> str:
    """An item without its marker. Its leading paragraph is left out when it is empty and what
    follows is read as beginning the item all the same."""
    first, rest = content[0], content[1:]
    begins = _paragraph(first.get("content", []))
    if box:
        begins = f"{box} {begins}" if begins else box
    if not rest:
        return begins
    follows = "\n\n".join(_rendered(rest, keep_empty=True))
    if not begins:
        if rest[0]["type"] in _LISTS:
            return "\n" + follows
        if rest[0]["type"] not in ("paragraph", "horizontalRule"):
            return follows
        begins = EMPTY_PARAGRAPH
    return begins + ("\n" if _may_follow_closely(rest[0]) else "\n\n") + follows


def _may_follow_closely(node: JsonDict) -> bool:
    """True for a list that is read as a list right after a line of text."""
    if node["type"] not in _LISTS or node["attrs"].get("start", 1) != 1:
        return False
    return node["type"] == "taskList" or not _is_empty(node["content"][0]["content"][0])


def _table(node: JsonDict) -> str:
    rows = [row.get("content", []) for row in node["content"]]
    if not _is_plain(rows):
        return _lines('<table data-type="table">', *map(_tagged_row, rows), "</table>")
    lines = [_row(cells) for cells in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def _is_plain(rows: list[list[JsonDict]]) -> bool:
    """True for a table that GFM can say: one line of headers, then rows of as many cells, each
    cell one paragraph or image, none of them merged or sized."""
    kinds = ["tableHeader"] + ["tableCell"] * (len(rows) - 1)
    return bool(rows[0]) and all(
        len(cells) == len(rows[0])
        and all(cell["type"] == kind and _is_simple(cell) for cell in cells)
        for kind, cells in zip(kinds, rows, strict=True)
    )


def _is_simple(cell: JsonDict) -> bool:
    attrs, content = cell["attrs"], cell["content"]
    unmerged = attrs["colspan"] == attrs["rowspan"] == 1 and attrs["colwidth"] is None
    return unmerged and len(content) == 1 and content[0]["type"] in ("paragraph", "image")


def _row(cells: list[JsonDict]) -> str:
    return "|" + "".join(f" {_cell(cell['content'][0])} |" for cell in cells)


def _cell(block: JsonDict) -> str:
    if block["type"] == "image":
        text = image_markdown(block["attrs"])
    else:
        text = inline_markdown(block.get("content", []), one_line=True)
    return text.replace("|", "\\|")


def _tagged_row(cells: list[JsonDict]) -> str:
    return _lines("<tr>", *map(_tagged_cell, cells), "</tr>")


def _tagged_cell(cell: JsonDict) -> str:
    attrs = cell["attrs"]
    tag = "th" if cell["type"] == "tableHeader" else "td"
    given = {name: attrs[name] for name in ("colspan", "rowspan") if attrs[name] != 1}
    if attrs["colwidth"]:
        given["colwidth"] = ",".join(map(str, attrs["colwidth"]))
    opening = f"<{tag}" + "".join(f' {name}="{value}"' for name, value in given.items()) + ">"
    inner = _blocks(cell["content"])
    return _lines(opening, f"\n{inner}\n" if inner else "", f"</{tag}>")
