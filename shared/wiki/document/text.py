"""A document as plain text, for full-text search, chunks and citations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.wiki.document.schema import JsonDict

_BETWEEN_BLOCKS = "\n\n"
_BETWEEN_CELLS = " | "
_TEXT_BLOCKS = frozenset({"paragraph", "heading", "codeBlock"})


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block that has text.

    `start` and `end` are offsets in what `to_text` gives for the document, and `text` is what
    stands there. `heading_path` names the headings above it, outermost first; a heading's own
    text is not in its own path.
    """

    id: str | None
    type: str
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int


def to_text(doc: JsonDict) -> str:
    """A line or several for each block, an empty line between top-level blocks.

    Table cells are joined by ` | `; what has no text (rules, images without alt) is left out.
    """
    return _BETWEEN_BLOCKS.join(block.text for block in blocks(doc))


def blocks(doc: JsonDict) -> list[Block]:
    """The top-level blocks that have text, in order, with their places in `to_text(doc)`."""
    found: list[Block] = []
    headings: dict[int, str] = {}
    start = 0
    for child in doc.get("content", []):
        text = block_text(child)
        if child["type"] == "heading":
            level = child["attrs"]["level"]
            headings = {above: title for above, title in headings.items() if above < level}
        if not text.strip():
            continue
        path = tuple(headings[level] for level in sorted(headings))
        end = start + len(text)
        found.append(Block(child["attrs"].get("id"), child["type"], path, text, start, end))
        start = end + len(_BETWEEN_BLOCKS)
        if child["type"] == "heading":
            headings[level] = " ".join(text.split())
    return found


def block_text(block: JsonDict) -> str:
    """A block's text, a line or several."""
    return "\n".join(_lines(block))


def inline_text(nodes: Sequence[JsonDict]) -> str:
    """The text of inline nodes: a mention is `@label`, a hard break a new line."""
    return "".join(_inline(item) for item in nodes)


def _inline(item: JsonDict) -> str:
    if item["type"] == "text":
        return str(item["text"])
    return f"@{item['attrs']['label']}" if item["type"] == "mention" else "\n"


def _lines(node: JsonDict) -> Iterator[str]:
    kind, content = node["type"], node.get("content", [])
    if kind in _TEXT_BLOCKS:
        if content:
            yield inline_text(content)
    elif kind == "image":
        if label := node["attrs"]["alt"] or node["attrs"]["title"]:
            yield label
    elif kind == "tableRow":
        yield _BETWEEN_CELLS.join(" ".join(_lines_of(cell)) for cell in content)
    else:
        yield from _lines_of(node)


def _lines_of(node: JsonDict) -> Iterator[str]:
    for child in node.get("content", []):
        yield from _lines(child)
