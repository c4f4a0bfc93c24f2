"""Ids on blocks, and which of them outlive a save as Markdown."""

import copy
import random
import time

import pytest
from document_strategies import documents
from hypothesis import given, settings

from shared.wiki.document import (
    JsonDict,
    assign_ids,
    from_markdown,
    is_block_id,
    keep_ids,
    to_markdown,
    walk_blocks,
)
from shared.wiki.document.matching import rising
from shared.wiki.document.schema import node, text
from shared.wiki.document.text import block_text


def with_ids(markdown: str) -> JsonDict:
    return assign_ids(from_markdown(markdown).doc)


def saved_over(old: JsonDict, markdown: str) -> JsonDict:
    return keep_ids(old, from_markdown(markdown).doc)


def ids(doc: JsonDict) -> list[str]:
    return [block["attrs"]["id"] for block in walk_blocks(doc)]


def id_of(doc: JsonDict, said: str, kind: str = "paragraph") -> str:
    """The id of the one block of this type whose text begins so."""
    found = [
        block["attrs"]["id"]
        for block in walk_blocks(doc)
        if block["type"] == kind and block_text(block).startswith(said)
    ]
    assert len(found) == 1, (said, found)
    return str(found[0])


def without_ids(doc: JsonDict) -> JsonDict:
    bare = copy.deepcopy(doc)
    for block in walk_blocks(bare):
        block["attrs"]["id"] = None
    return bare


def test_every_block_gets_a_short_unique_id() -> None:
    doc = with_ids("# a\n\n- b\n  - c\n\n| d |\n|---|\n| e |\n\n```\nf\n```\n\n---")
    assert len(ids(doc)) == 16
    assert all(is_block_id(value) for value in ids(doc))
    assert len(set(ids(doc))) == 16


def test_valid_ids_stay_and_duplicates_and_others_are_replaced() -> None:
    given = ["abcdefabcdef", "abcdefabcdef", "Not Valid", None, "0123456789ab"]
    doc = node("doc", [node("paragraph", id=value) for value in given])
    before = copy.deepcopy(doc)
    found = ids(assign_ids(doc))
    assert doc == before
    assert found[0] == given[0]
    assert found[4] == given[4]
    assert len(set(found)) == 5
    assert all(is_block_id(value) for value in found)


OLD = """# Guide

First paragraph about the cats that live here.

Second paragraph about dogs and their owners.

## Details

- apples are red
- pears are green
- plums are blue

| Name | Age |
| --- | --- |
| Ann | 7 |
| Bob | 8 |

Last words of this page, nothing more.
"""


def test_an_unchanged_document_keeps_all_ids() -> None:
    old = with_ids(OLD)
    assert saved_over(old, to_markdown(old)) == old


def test_an_edited_block_keeps_its_id_and_its_neighbours_theirs() -> None:
    old = with_ids(OLD)
    new = saved_over(old, OLD.replace("that live here", "that lived over there"))
    assert ids(new) == ids(old)


def test_an_inserted_block_gets_a_new_id_and_moves_no_other() -> None:
    old = with_ids(OLD)
    new = saved_over(
        old, OLD.replace("## Details", "Something wholly new and other.\n\n## Details")
    )
    added = id_of(new, "Something")
    assert added not in ids(old)
    assert [value for value in ids(new) if value != added] == ids(old)


def test_a_removed_block_takes_only_its_own_id_along() -> None:
    old = with_ids(OLD)
    new = saved_over(old, OLD.replace("Second paragraph about dogs and their owners.\n\n", ""))
    gone = id_of(old, "Second")
    assert ids(new) == [value for value in ids(old) if value != gone]


def test_a_moved_block_keeps_its_id() -> None:
    old = with_ids(OLD)
    moved = "Second paragraph about dogs and their owners.\n\n"
    new = saved_over(old, OLD.replace(moved, "") + "\n" + moved)
    assert sorted(ids(new)) == sorted(ids(old))
    assert id_of(new, "Second") == id_of(old, "Second")


def test_a_block_moved_into_a_quote_keeps_its_id() -> None:
    old = with_ids(OLD)
    new = saved_over(old, OLD.replace("Second", "> Second"))
    assert id_of(new, "Second") == id_of(old, "Second")


def test_an_edited_list_item_and_an_edited_cell_keep_their_ids() -> None:
    old = with_ids(OLD)
    new = saved_over(
        old, OLD.replace("pears are green", "pears are yellow").replace("| 7 |", "| 36 |")
    )
    assert ids(new) == ids(old)


def test_a_row_added_to_a_table_keeps_the_other_rows_ids() -> None:
    old = with_ids(OLD)
    new = saved_over(old, OLD.replace("| Bob", "| Zoe | 5 |\n| Bob"))
    assert set(ids(old)) < set(ids(new))
    assert id_of(new, "Bob | 8", "tableRow") == id_of(old, "Bob | 8", "tableRow")


def test_a_wholly_rewritten_paragraph_is_a_new_block() -> None:
    old = with_ids("Cats sleep all day long.")
    assert not set(ids(saved_over(old, "Revenue rose by four per cent."))) & set(ids(old))


def test_repeated_blocks_are_matched_in_order() -> None:
    old = with_ids("same\n\nsame\n\nother\n\nsame")
    new = saved_over(old, "same\n\nsame\n\nadded one here\n\nother\n\nsame")
    added = id_of(new, "added")
    assert [value for value in ids(new) if value != added] == ids(old)


@settings(max_examples=40, deadline=None)
@given(documents, documents)
def test_no_id_is_given_twice_and_nothing_else_changes(old: JsonDict, new: JsonDict) -> None:
    old = assign_ids(old)
    kept = keep_ids(old, new)
    assert len(set(ids(kept))) == len(ids(kept))
    assert all(is_block_id(value) for value in ids(kept))
    assert without_ids(kept) == new
    assert keep_ids(old, without_ids(old)) == old


def test_broken_ids_of_the_old_document_are_not_passed_on() -> None:
    old = node("doc", [node("paragraph", [text(word, [])], id="same") for word in ("a", "b")])
    assert all(is_block_id(value) for value in ids(keep_ids(old, without_ids(old))))


@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
def test_two_thousand_blocks_are_matched_quickly(share: float) -> None:
    chance = random.Random(5)
    words = [f"w{number}" for number in range(3_000)]
    lines = [" ".join(chance.choices(words, k=30)) for _ in range(2_000)]
    old = assign_ids(node("doc", [node("paragraph", [text(line, [])]) for line in lines]))
    edited = [line + " edited" if chance.random() < share else line for line in lines]
    new = node("doc", [node("paragraph", [text(line, [])]) for line in edited])
    started = time.process_time()
    kept = keep_ids(old, new)
    assert time.process_time() - started < 1.0  # 0.2 s alone; a busy machine gets room
    assert ids(kept) == ids(old)


def test_rising_finds_the_longest_rising_part() -> None:
    assert rising([]) == []
    pairs = [(3, 0), (0, 1), (1, 2), (4, 3), (2, 4)]
    assert rising(pairs) in ([(0, 1), (1, 2), (4, 3)], [(0, 1), (1, 2), (2, 4)])
