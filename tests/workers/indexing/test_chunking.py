"""Chunks know exactly where they stand in the page's text."""

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.tunables import CHUNK_CHARS
from workers.indexing.chunking import Chunk, chunk, content_hash, embedded_text


@dataclass(frozen=True)
class FakeBlock:
    id: str
    heading_path: tuple[str, ...]
    start: int
    end: int


WORDS = st.sampled_from(
    ["word", "another one.", "word", "\n", "\n\n", " ", "  ", "。", "日本語", "é", "x" * 700]
)
TEXTS = st.lists(WORDS, max_size=400).map(" ".join) | st.text(max_size=3_000)


def with_blocks(*paragraphs: tuple[str, tuple[str, ...]]) -> tuple[str, list[FakeBlock]]:
    text, blocks = "", []
    for number, (paragraph, path) in enumerate(paragraphs):
        text += "\n" if text else ""
        blocks.append(FakeBlock(f"b{number}", path, len(text), len(text) + len(paragraph)))
        text += paragraph
    return text, blocks


@pytest.mark.req("RA-03")
@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_a_chunk_is_exactly_the_text_at_its_offsets(text: str) -> None:
    chunks = chunk(text, [])
    for number, passage in enumerate(chunks):
        assert passage.index == number
        assert text[passage.start : passage.start + passage.length] == passage.content
        assert 0 < passage.length <= CHUNK_CHARS
    assert [c.start for c in chunks] == sorted(c.start for c in chunks)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_nothing_but_white_space_is_left_out(text: str) -> None:
    covered = bytearray(len(text))
    for passage in chunk(text, []):
        covered[passage.start : passage.start + passage.length] = b"\x01" * passage.length
    assert all(
        inside or character.isspace() for inside, character in zip(covered, text, strict=True)
    )


def test_a_blank_text_has_no_chunks() -> None:
    assert chunk("", []) == []
    assert chunk(" \n\t ", []) == []


def test_a_chunk_names_the_blocks_it_touches_and_the_section_that_fills_it() -> None:
    text, blocks = with_blocks(
        ("Short start.", ("Intro",)),
        ("A sentence about leave. " * 30, ("Leave", "Annual")),
        ("More about travel. " * 60, ("Travel",)),
    )
    chunks = chunk(text, blocks)
    assert chunks[0].block_ids == ("b0", "b1")
    assert chunks[0].heading_path == ("Leave", "Annual")
    assert chunks[-1].block_ids == ("b2",)
    assert chunks[-1].heading_path == ("Travel",)


def test_neighbouring_chunks_share_some_text() -> None:
    text = " ".join(f"sentence number {n}." for n in range(200))
    chunks = chunk(text, [])
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        assert after.start < before.start + before.length


def test_title_and_headings_are_part_of_what_is_embedded_and_hashed() -> None:
    passage = Chunk(0, 0, 5, "words", ("Leave", "Annual"), ("b0",))
    assert embedded_text("Handbook", passage) == "Handbook > Leave > Annual\n\nwords"
    assert content_hash("Handbook", passage) != content_hash("Other", passage)
    moved = Chunk(3, 70, 5, "words", ("Leave", "Annual"), ("b9",))
    assert content_hash("Handbook", passage) == content_hash("Handbook", moved)
