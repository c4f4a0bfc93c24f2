"""Cutting a page's plain text into overlapping passages that know where they stand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from shared.core.tunables import CHUNK_CHARS, CHUNK_OVERLAP_CHARS

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter


class TextBlock(Protocol):
    """A block of a document; `start` and `end` are offsets into the document's plain text."""

    @property
    def id(self) -> str | None: ...
    @property
    def heading_path(self) -> Sequence[str]: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """`content` is `text[start:start + length]` of the page's plain text, exactly.

    `heading_path` is that of the block which fills most of it; `block_ids` are the blocks
    that it touches, in order.
    """

    index: int
    start: int
    length: int
    content: str
    heading_path: tuple[str, ...]
    block_ids: tuple[str, ...]


def chunk(text: str, blocks: Sequence[TextBlock]) -> list[Chunk]:
    """The passages of `text`, CHUNK_CHARS long at most; none for a blank text."""
    return [
        _chunk(index, start, content, blocks)
        for index, (start, content) in enumerate(_passages(text))
    ]


def embedded_text(title: str, passage: Chunk) -> str:
    """What the model reads: the page's title and the headings say what a passage is about."""
    breadcrumb = " > ".join((title, *passage.heading_path))
    return f"{breadcrumb}\n\n{passage.content}"


def content_hash(title: str, passage: Chunk) -> bytes:
    """Equal for equal input to the model."""
    return sha256(embedded_text(title, passage).encode()).digest()


def _passages(text: str) -> Iterator[tuple[int, str]]:
    """Start and content. The splitter's pieces partition the text, so that places are sums;
    its own overlap leaves the place of a repeated passage open."""
    if not text.strip():
        return
    start = 0
    for piece in _splitter().split_text(text):
        end = start + len(piece)
        if piece.strip():
            earlier = _overlapping(text, start)
            passage = text[earlier:end].rstrip()
            content = passage.lstrip()
            yield earlier + len(passage) - len(content), content
        start = end


def _overlapping(text: str, start: int) -> int:
    """Up to CHUNK_OVERLAP_CHARS before `start`, at the beginning of a word if there is one."""
    earliest = max(0, start - CHUNK_OVERLAP_CHARS)
    if earliest == 0:
        return 0
    gap = next((i for i in range(earliest, start) if text[i].isspace()), None)
    return earliest if gap is None else gap + 1


def _chunk(index: int, start: int, content: str, blocks: Sequence[TextBlock]) -> Chunk:
    end = start + len(content)
    touched = [block for block in blocks if block.start < end and block.end > start]
    main = max(touched, key=lambda b: min(b.end, end) - max(b.start, start), default=None)
    return Chunk(
        index=index,
        start=start,
        length=len(content),
        content=content,
        heading_path=() if main is None else tuple(main.heading_path),
        block_ids=tuple(dict.fromkeys(block.id for block in touched if block.id)),
    )


@lru_cache(maxsize=1)
def _splitter() -> "RecursiveCharacterTextSplitter":
    # Imported here: it costs a second and 50 MB, and only the index worker needs it.
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(
        chunk_size=CHUNK_CHARS - CHUNK_OVERLAP_CHARS,
        chunk_overlap=0,
        separators=["\n\n", "\n", ". ", "。", " ", ""],
        keep_separator="end",
        strip_whitespace=False,
    )
