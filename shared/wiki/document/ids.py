"""The ids of blocks: short, unique within a document."""

import re
import secrets
from collections.abc import Iterator
from string import ascii_lowercase, digits
from typing import Final

from shared.wiki.document.schema import BLOCK_TYPES, JsonDict

ID_CHARS: Final = 12  # 62 bits: no two alike in any document
_ALPHABET: Final = ascii_lowercase + digits
_VALID = re.compile(rf"[a-z0-9]{{{ID_CHARS}}}")


def new_block_id() -> str:
    """A fresh block id."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(ID_CHARS))


def is_block_id(value: object) -> bool:
    """True for a well-formed block id."""
    return isinstance(value, str) and _VALID.fullmatch(value) is not None


def walk_blocks(doc: JsonDict) -> Iterator[JsonDict]:
    """Every block below the document's root, parents before children, in reading order."""
    todo = list(reversed(doc.get("content", [])))
    while todo:
        node = todo.pop()
        if node["type"] in BLOCK_TYPES:
            yield node
            todo.extend(reversed(node.get("content", ())))


def copy_blocks(doc: JsonDict) -> JsonDict:
    """A copy whose blocks and their attributes may be changed; inline nodes are shared."""
    copied = dict(doc)
    todo = [copied]
    while todo:
        node = todo.pop()
        children = node.get("content")
        if not children or children[0]["type"] not in BLOCK_TYPES:
            continue
        node["content"] = [{**child, "attrs": dict(child["attrs"])} for child in children]
        todo.extend(node["content"])
    return copied


def assign_ids(doc: JsonDict) -> JsonDict:
    """The document with an id on every block.

    A well-formed id stays; of several blocks with the same id the first keeps it. Takes a
    document in normal form and leaves it unchanged.
    """
    copied = copy_blocks(doc)
    used: set[str] = set()
    for block in walk_blocks(copied):
        present = block["attrs"]["id"]
        if not is_block_id(present) or present in used:
            block["attrs"]["id"] = present = new_block_id()
        used.add(present)
    return copied
