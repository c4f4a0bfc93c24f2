"""The schema of a page: ProseMirror's, with the names that TipTap's extensions use.

The browser edits the same JSON, so its extensions must offer exactly these nodes, marks and
attributes. Code may carry a link but none of the other marks. An image is a block.
"""

from typing import Any, Final

from prosemirror.model import Schema

from shared.wiki.document.attributes import (
    MARK_ATTRIBUTES,
    NODE_ATTRIBUTES,
    REQUIRED,
    Attributes,
)

JsonDict = dict[str, Any]

_CODE_EXCLUDES = "code bold italic strike underline highlight superscript subscript"

_NODES: dict[str, JsonDict] = {
    "doc": {"content": "block+"},
    "paragraph": {"group": "block", "content": "inline*"},
    "heading": {"group": "block", "content": "inline*"},
    "bulletList": {"group": "block", "content": "listItem+"},
    "orderedList": {"group": "block", "content": "listItem+"},
    "listItem": {"content": "paragraph block*"},
    "taskList": {"group": "block", "content": "taskItem+"},
    "taskItem": {"content": "paragraph block*"},
    "table": {"group": "block", "content": "tableRow+", "isolating": True},
    "tableRow": {"content": "(tableCell | tableHeader)*"},
    "tableHeader": {"content": "block+", "isolating": True},
    "tableCell": {"content": "block+", "isolating": True},
    "codeBlock": {"group": "block", "content": "text*", "marks": "", "code": True},
    "blockquote": {"group": "block", "content": "block+"},
    "callout": {"group": "block", "content": "block+"},
    "horizontalRule": {"group": "block"},
    "image": {"group": "block"},
    "text": {"group": "inline"},
    "hardBreak": {"group": "inline", "inline": True},
    "mention": {"group": "inline", "inline": True, "atom": True},
}


def _specs(attributes: Attributes) -> JsonDict:
    return {
        name: {} if attribute.default is REQUIRED else {"default": attribute.default}
        for name, attribute in attributes.items()
    }


def _mark_spec(name: str) -> JsonDict:
    spec: JsonDict = {"attrs": _specs(MARK_ATTRIBUTES[name])}
    return {**spec, "excludes": _CODE_EXCLUDES} if name == "code" else spec


_SPEC: Any = {
    "nodes": {
        name: {**spec, "attrs": _specs(NODE_ATTRIBUTES[name])} for name, spec in _NODES.items()
    },
    "marks": {name: _mark_spec(name) for name in MARK_ATTRIBUTES},
}
SCHEMA: Final[Any] = Schema(_SPEC)

MARK_RANK: Final = {name: rank for rank, name in enumerate(MARK_ATTRIBUTES)}
BLOCK_TYPES: Final = frozenset(
    name for name in NODE_ATTRIBUTES if "id" in NODE_ATTRIBUTES[name] and name != "mention"
)
EMPTY_DOC: Final[JsonDict] = {
    "type": "doc",
    "content": [{"type": "paragraph", "attrs": {"id": None}}],
}


def node(kind: str, content: list[JsonDict] | None = None, **attrs: Any) -> JsonDict:
    """A node in its normal form: every attribute present, `content` only when there is some."""
    known = NODE_ATTRIBUTES[kind]
    made: JsonDict = {"type": kind}
    if known:
        made["attrs"] = {name: attrs.get(name, spec.default) for name, spec in known.items()}
    if content:
        made["content"] = content
    return made


def mark(kind: str, **attrs: Any) -> JsonDict:
    """A mark in its normal form: every attribute present."""
    known = MARK_ATTRIBUTES[kind]
    if not known:
        return {"type": kind}
    return {
        "type": kind,
        "attrs": {name: attrs.get(name, spec.default) for name, spec in known.items()},
    }


def text(content: str, marks: list[JsonDict]) -> JsonDict:
    """A text node in its normal form. `marks` are in the schema's order."""
    made: JsonDict = {"type": "text", "text": content}
    if marks:
        made["marks"] = marks
    return made
