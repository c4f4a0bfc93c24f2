"""Is this JSON a document of ours? Says where it is not, and gives its normal form.

ProseMirror's Python package drops unknown attributes in silence, recurses, and fails on
malformed input with whatever exception comes first. So a pass without recursion looks at
depth, size, keys, types, strings and attributes; the package then judges the structure.
"""

import asyncio
import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import orjson
from prosemirror.model import Mark, Node

from shared.core.tunables import (
    DOCUMENT_OFFLOAD_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_DEPTH,
)
from shared.wiki.document.attributes import (
    MARK_ATTRIBUTES,
    NODE_ATTRIBUTES,
    REQUIRED,
    Attributes,
)
from shared.wiki.document.errors import InvalidDocumentError, PathPart
from shared.wiki.document.schema import MARK_RANK, SCHEMA, JsonDict

Path = tuple[PathPart, ...]

_NODE_BYTES = 20  # the least that a node takes when serialised
_LINE_END = re.compile(r"\r\n?")
_PAGE_CONTROLS = str.maketrans("\x0b\x0c", "  ")
_NODE_KEYS = frozenset({"type", "attrs", "content", "marks"})
_TEXT_KEYS = frozenset({"type", "text", "marks"})
_MARK_KEYS = frozenset({"type", "attrs"})


def validate(content: object) -> JsonDict:
    """The document's normal form: every attribute present, marks in order, texts joined.

    Raises InvalidDocumentError with the path of the fault. The input is not changed.
    """
    walk = _Walk()
    document = walk.run(content)
    _check_structure(document)
    for siblings in walk.split_texts:
        siblings[:] = joined_texts(siblings)
    if len(orjson.dumps(document)) > MAX_DOCUMENT_BYTES:
        raise _too_large()
    return document


async def validate_async(content: object) -> JsonDict:
    """`validate`, in a thread when the document is large enough to hold up the event loop."""
    try:
        size = len(orjson.dumps(content))
    except TypeError:  # too deep or not JSON: let `validate` say so, away from the loop
        size = DOCUMENT_OFFLOAD_BYTES + 1
    if size > DOCUMENT_OFFLOAD_BYTES:
        return await asyncio.to_thread(validate, content)
    return validate(content)


def _too_large() -> InvalidDocumentError:
    return InvalidDocumentError(f"it is larger than {MAX_DOCUMENT_BYTES} bytes")


@dataclass(slots=True)
class _Walk:
    """One pass over the raw JSON with an explicit stack, building the normal form."""

    bytes_left: int = MAX_DOCUMENT_BYTES
    split_texts: list[list[JsonDict]] = field(default_factory=list)

    def run(self, content: object) -> JsonDict:
        top: list[JsonDict] = []
        todo: list[tuple[object, Path, list[JsonDict]]] = [(content, (), top)]
        while todo:
            raw, path, siblings = todo.pop()
            # A path alternates "content" and an index, so half its length is the depth.
            if len(path) // 2 >= MAX_DOCUMENT_DEPTH:
                raise InvalidDocumentError(
                    f"it is nested more than {MAX_DOCUMENT_DEPTH} levels deep", path
                )
            made, children = self._node(raw, path)
            if siblings and made["type"] == "text" == siblings[-1]["type"]:
                self._note_split(siblings, made)
            siblings.append(made)
            if children:
                inner: list[JsonDict] = []
                made["content"] = inner
                for index in range(len(children) - 1, -1, -1):
                    todo.append((children[index], (*path, "content", index), inner))
        if top[0]["type"] != "doc":
            raise InvalidDocumentError("the outermost node must be a doc", ("type",))
        return top[0]

    def _note_split(self, siblings: list[JsonDict], made: JsonDict) -> None:
        known = self.split_texts and self.split_texts[-1] is siblings
        if not known and siblings[-1].get("marks") == made.get("marks"):
            self.split_texts.append(siblings)

    def _node(self, raw: object, path: Path) -> tuple[JsonDict, list[Any]]:
        node, kind = self._typed(raw, path, "node")
        known = NODE_ATTRIBUTES.get(kind)
        if known is None:
            raise InvalidDocumentError(f"there is no node type {kind!r}", (*path, "type"))
        self._keys(node, _TEXT_KEYS if kind == "text" else _NODE_KEYS, path)
        made: JsonDict = {"type": kind}
        if kind == "text":
            made["text"] = self._text(node.get("text"), (*path, "text"))
        elif known or node.get("attrs"):
            made["attrs"] = self._attributes(node.get("attrs"), known, (*path, "attrs"))
        if marks := self._list(node, "marks", path):
            made["marks"] = self._marks(marks, (*path, "marks"))
        return made, self._list(node, "content", path)

    def _typed(self, raw: object, path: Path, what: str) -> tuple[JsonDict, str]:
        self._spend(_NODE_BYTES)
        if not isinstance(raw, dict):
            raise InvalidDocumentError(f"a {what} must be an object", path)
        kind = raw.get("type")
        if not isinstance(kind, str):
            raise InvalidDocumentError("a type must be a string", (*path, "type"))
        return raw, self._string(kind, (*path, "type"))

    def _text(self, value: object, path: Path) -> str:
        if not isinstance(value, str) or not value:
            raise InvalidDocumentError("a text must be a string that is not empty", path)
        value = self._string(value, path)
        if "\r" in value:
            value = _LINE_END.sub("\n", value)
        return value.translate(_PAGE_CONTROLS) if not value.isprintable() else value

    def _marks(self, marks: list[Any], path: Path) -> list[JsonDict]:
        made = []
        for index, raw in enumerate(marks):
            here = (*path, index)
            mark, kind = self._typed(raw, here, "mark")
            known = MARK_ATTRIBUTES.get(kind)
            if known is None:
                raise InvalidDocumentError(f"there is no mark type {kind!r}", (*here, "type"))
            self._keys(mark, _MARK_KEYS, here)
            item: JsonDict = {"type": kind}
            if known or mark.get("attrs"):
                item["attrs"] = self._attributes(mark.get("attrs"), known, (*here, "attrs"))
            made.append(item)
        return sorted(made, key=lambda mark: MARK_RANK[mark["type"]])

    def _attributes(self, raw: object, known: Attributes, path: Path) -> JsonDict:
        if raw is None:
            raw = {}
        if not isinstance(raw, dict):
            raise InvalidDocumentError("attrs must be an object", path)
        self._keys(raw, known, path)
        return {name: self._value(raw, name, known, (*path, name)) for name in known}

    def _value(self, raw: JsonDict, name: str, known: Attributes, path: Path) -> Any:
        attribute = known[name]
        value = raw.get(name, attribute.default)
        if value is REQUIRED:
            raise InvalidDocumentError("it is missing", path)
        if isinstance(value, str):
            self._string(value, path)
            if not value and attribute.default is None:
                return None
        if not attribute.accepts(value):
            raise InvalidDocumentError(f"it must be {attribute.expects}", path)
        return list(value) if isinstance(value, list) else value

    def _list(self, node: JsonDict, key: str, path: Path) -> list[Any]:
        value = node.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise InvalidDocumentError(f"{key} must be a list", (*path, key))
        return value

    def _keys(self, raw: JsonDict, known: Any, path: Path) -> None:
        for key in raw:
            if key not in known:
                raise InvalidDocumentError("there is no such key here", (*path, str(key)))

    def _string(self, value: str, path: Path) -> str:
        if "\0" in value:
            raise InvalidDocumentError("a string holds a NUL character", path)
        try:
            self._spend(len(value) if value.isascii() else len(value.encode()))
        except UnicodeEncodeError:
            raise InvalidDocumentError("a string holds half a surrogate pair", path) from None
        return value

    def _spend(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise _too_large()


def joined_texts(siblings: list[JsonDict]) -> list[JsonDict]:
    """Neighbouring texts with the same marks become one."""
    joined: list[JsonDict] = []
    for (kind, _), group in groupby(siblings, lambda item: (item["type"], item.get("marks"))):
        run = list(group)
        if kind == "text" and len(run) > 1:
            joined.append({**run[0], "text": "".join(item["text"] for item in run)})
        else:
            joined.extend(run)
    return joined


def _check_structure(document: JsonDict) -> None:
    try:
        root = Node.from_json(SCHEMA, document)
        root.check()
    except (ValueError, KeyError, AttributeError, RecursionError, UnicodeEncodeError) as error:
        problem, path = _fault(document)
        raise InvalidDocumentError(problem, path) from error


def _fault(document: JsonDict) -> tuple[str, Path]:
    """What is wrong in a document whose structure was refused, and where."""
    todo: list[tuple[JsonDict, Path]] = [(document, ())]
    while todo:
        node, path = todo.pop()
        kind = SCHEMA.nodes[node["type"]]
        expects = f"a {kind.name} holds {kind.spec.get('content', 'nothing')}"
        match = kind.content_match
        children = node.get("content", [])
        for index, child in enumerate(children):
            here = (*path, "content", index)
            match = match.match_type(SCHEMA.nodes[child["type"]])
            if match is None:
                return f"a {child['type']} cannot stand here: {expects}", here
            marks = [SCHEMA.mark(m["type"], m.get("attrs")) for m in child.get("marks", [])]
            if not kind.allows_marks(marks):
                return f"a {kind.name} allows no such marks", (*here, "marks")
            if not _can_stand_together(marks):
                return "these marks exclude each other", (*here, "marks")
        if not match.valid_end:
            return f"content is missing: {expects}", path
        todo.extend(
            (child, (*path, "content", index)) for index, child in reversed([*enumerate(children)])
        )
    return "its structure is not that of a page", ()


def _can_stand_together(marks: list[Any]) -> bool:
    together: list[Any] = Mark.none
    for mark in marks:
        together = mark.add_to_set(together)
    return Mark.same_set(together, marks)
