"""A few words as somebody wrote them down: what they say, and what their Markdown adds to it."""

from dataclasses import dataclass

from shared.wiki.document.ids import walk_blocks
from shared.wiki.document.markdown_in import from_markdown
from shared.wiki.document.schema import SCHEMA, JsonDict
from shared.wiki.document.text import inline_text


@dataclass(frozen=True, slots=True)
class Reading:
    """`text` is without markup, a line for each of its blocks.

    `runs` are the pieces of that text with one formatting each, if it is all of one block,
    else none. `markup` is the same for two texts whose Markdown differs in nothing but words.
    """

    text: str
    runs: tuple[str, ...]
    markup: tuple[str, ...]


def read(source: str) -> Reading:
    """Never fails: what is no Markdown is its own text. White space around it stays."""
    words = source.strip()
    blocks = list(walk_blocks(from_markdown(words).doc))
    leaves = [block for block in blocks if SCHEMA.nodes[block["type"]].is_textblock]
    runs = _runs(leaves[0]) if len(leaves) == 1 and blocks[-1] is leaves[0] else []
    text = "\n".join(inline_text(leaf.get("content", [])) for leaf in leaves)
    if runs and len(blocks) == 1 and blocks[0]["type"] == "paragraph":
        start = source.find(words)
        runs[0] = source[:start] + runs[0]
        runs[-1] += source[start + len(words) :]
    return Reading("".join(runs) or text, tuple(runs), tuple(_markup(blocks)))


def _runs(leaf: JsonDict) -> list[str]:
    content = leaf.get("content", [])
    if any(item["type"] not in ("text", "hardBreak") for item in content):
        return []
    return [inline_text([item]) for item in content]


def _markup(blocks: list[JsonDict]) -> list[str]:
    markup = [f"{block['type']} {block['attrs']}" for block in blocks]
    for block in blocks:
        if SCHEMA.nodes[block["type"]].is_textblock:
            markup += [_formatting(item) for item in block.get("content", [])]
    return markup


def _formatting(item: JsonDict) -> str:
    """A link that shows its own address is the same with another one."""
    marks = [{**mark, "attrs": "own" if _is_own(mark, item) else mark.get("attrs")}
             for mark in item.get("marks", ())]  # fmt: skip
    return f"{item['type']} {marks}"


def _is_own(mark: JsonDict, item: JsonDict) -> bool:
    return bool(mark["type"] == "link" and mark["attrs"]["href"] == item.get("text"))
