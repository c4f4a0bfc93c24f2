"""Edits of a real handbook's pages. Needs PAGETURN_CORPORA."""

import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from shared.wiki.document import (
    SCHEMA,
    JsonDict,
    TextEdit,
    assign_ids,
    edit_text,
    from_markdown,
    to_markdown,
    validate,
    walk_blocks,
)

CORPORA = os.environ.get("PAGETURN_CORPORA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPORA, reason="PAGETURN_CORPORA is not set: the handbook is there"),
]
NEW = "Zyzzyva"  # stands on no page
WORD = re.compile(r"(?<![\w./:@-])[A-Za-z]{4,}(?![\w./:@-])")  # not of an address


@cache
def pages() -> list[JsonDict]:
    files = sorted(Path(str(CORPORA)).joinpath("handbook").rglob("*.md"))
    return [assign_ids(from_markdown(file.read_text("utf-8")).doc) for file in files]


def leaves(doc: JsonDict) -> list[JsonDict]:
    return [block for block in walk_blocks(doc) if SCHEMA.nodes[block["type"]].is_textblock]


def across_marks(doc: JsonDict) -> Iterator[tuple[str, str]]:
    """Texts that run from one formatting into the next, each with a word of its second half."""
    every = "\0".join(
        "".join(item.get("text", "\0") for item in leaf.get("content", [])) for leaf in leaves(doc)
    )
    for leaf in leaves(doc):
        content = leaf.get("content", [])
        for one, two in pairwise(content):
            if one["type"] == two["type"] == "text" and (word := WORD.search(two["text"])):
                find = one["text"][-30:] + two["text"][: word.end()]
                if every.count(find) == 1 and find.count(word[0]) == 1:
                    yield find, word[0]


@pytest.mark.req("TW-08")
def test_a_phrase_across_bold_and_links_changes_one_word_and_nothing_else() -> None:
    tried = 0
    for doc in pages():
        before = to_markdown(doc)
        for find, word in list(across_marks(doc))[:5]:
            edit = TextEdit(find, find.replace(word, NEW))
            changed, (outcome,) = edit_text(doc, [edit])
            assert (outcome.replacements, outcome.reason) == (1, None), find
            assert validate(changed) == changed
            after = to_markdown(changed)
            assert after.count(NEW) == 1
            assert after.replace(NEW, word) == before, find
            back, _ = edit_text(changed, [TextEdit(edit.replace, edit.find)])
            assert back == doc
            tried += 1
    assert tried > 300


def copied(doc: JsonDict) -> Iterator[tuple[str, str]]:
    """Formatted paragraphs, headings and items as their Markdown shows them, each with a word
    that stands there once, and not in an address."""
    for block in walk_blocks(doc):
        kind = block["type"]
        if kind not in ("paragraph", "heading", "bulletList", "orderedList", "callout"):
            continue
        source = to_markdown({"type": "doc", "content": [block]})
        texts = [item["text"] for leaf in leaves({"content": [block]})
                 for item in leaf.get("content", []) if item["type"] == "text"]  # fmt: skip
        plain = "".join(texts)
        if len(leaves({"content": [block]})) == 1 and source != plain:
            for word in WORD.findall(plain):
                if source.count(word) == 1:
                    yield source, word
                    break


@pytest.mark.req("TW-08")
def test_a_block_copied_out_of_a_pages_markdown_is_found_again() -> None:
    done, twice, failed = 0, 0, []
    for doc in pages():
        before = to_markdown(doc)
        for find, word in copied(doc):
            edit = TextEdit(find, find.replace(word, NEW))
            changed, (outcome,) = edit_text(doc, [edit])
            if outcome.replacements:
                assert to_markdown(changed).replace(NEW, word) == before, find
                done += 1
            elif " times" in str(outcome.reason):
                twice += 1
            else:
                failed.append((find[:100], outcome.reason))
    print(f"{done} edited, {twice} there more than once, {len(failed)} refused")  # noqa: T201
    assert done > 1_500
    assert len(failed) <= done // 200, failed[:20]
