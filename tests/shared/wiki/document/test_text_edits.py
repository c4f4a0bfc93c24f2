"""Literal edits of a document's text."""

import re
from typing import Any

import pytest
from document_strategies import documents, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.tunables import MAX_DOCUMENT_BYTES, MAX_EDIT_REPLACEMENTS
from shared.wiki.document import (
    SCHEMA,
    EditOutcome,
    JsonDict,
    TextEdit,
    assign_ids,
    edit_text,
    from_markdown,
    to_markdown,
    validate,
    walk_blocks,
)
from shared.wiki.document.schema import mark, node, text

EVERYWHERE = """\
## Opening hours

We open at nine.

- Monday: closed
  - Bring a **key**
- [ ] Ring the bell

1. First step

> Quoted words

:::warning
Mind the dog.
:::

| Day | Hours |
| --- | ----- |
| Tue | eight |

```python
print("hello")
```
"""


def document(markdown: str) -> JsonDict:
    return assign_ids(from_markdown(markdown).doc)


def edited(markdown: str, *edits: tuple[Any, ...]) -> tuple[str, list[EditOutcome]]:
    """The Markdown afterwards. What holds for every edit is looked at here."""
    doc = document(markdown)
    changed, outcomes = edit_text(doc, [TextEdit(*edit) for edit in edits])
    assert validate(changed) == changed
    assert ids(changed) == ids(doc)
    assert doc == validate(doc)
    return to_markdown(changed), outcomes


def reason(markdown: str, find: str, replace: str, *, replace_all: bool = False) -> str:
    """Why an edit is refused."""
    after, (outcome,) = edited(markdown, (find, replace, replace_all))
    assert after == to_markdown(document(markdown))
    assert outcome.replacements == 0
    assert outcome.reason is not None
    return outcome.reason


def ids(doc: JsonDict) -> list[tuple[str, str]]:
    return [(block["type"], block["attrs"]["id"]) for block in walk_blocks(doc)]


def leaves(doc: JsonDict) -> list[JsonDict]:
    return [block for block in walk_blocks(doc) if SCHEMA.nodes[block["type"]].is_textblock]


def characters(block: JsonDict) -> list[tuple[str, list[JsonDict]]]:
    """Each character with its marks; a mention is a NUL."""
    made: list[tuple[str, list[JsonDict]]] = []
    for item in block.get("content", []):
        said = {"text": item.get("text"), "hardBreak": "\n"}.get(item["type"], "\0")
        made += [(char, item.get("marks", [])) for char in said or ""]
    return made


def words(block: JsonDict) -> str:
    return "".join(char for char, _ in characters(block))


@pytest.mark.req("TW-08")
@pytest.mark.parametrize(
    ("before", "find", "replace", "after"),
    [
        ("foo **bar**", "foo bar", "foo baz", "foo **baz**"),
        ("foo **bar**", "foo bar", "for bar", "for **bar**"),
        ("foo **bar**", "foo bar", "x", "x"),
        ("**foo** bar", "foo bar", "x", "**x**"),
        ("**foo** bar", "foo bar", "foo, bar", "**foo,** bar"),
        ("a _b_ c", "a b c", "a new c", "a _new_ c"),
        ("a _b_ c", "a b", "the a b", "the a _b_ c"),
        ("see [the docs](/d) now", "the docs now", "the pages now", "see [the pages](/d) now"),
        ("use `a` or `b`", "a or b", "a and b", "use `a` and `b`"),
        ("keep **this** and that", " and that", "", "keep **this**"),
    ],
)
def test_a_text_is_found_across_marks_and_what_is_new_takes_those_of_what_it_replaces(
    before: str, find: str, replace: str, after: str
) -> None:
    got, (outcome,) = edited(before, (find, replace))
    assert (got, outcome.replacements, outcome.reason) == (after, 1, None)


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("Opening hours", "When we open"),
        ("nine", "ten"),
        ("Monday: closed", "Monday: open"),
        ("Bring a key", "Bring a card"),
        ("Ring the bell", "Knock"),
        ("First step", "Zeroth step"),
        ("Quoted", "Said"),
        ("the dog", "the cat"),
        ("eight", "nine to five"),
        ("hello", "goodbye"),
    ],
)
def test_every_kind_of_block_is_edited_and_no_other_is_touched(find: str, replace: str) -> None:
    doc = document(EVERYWHERE)
    changed, (outcome,) = edit_text(doc, [TextEdit(find, replace)])
    assert outcome.reason is None
    assert ids(changed) == ids(doc)
    pairs = [(old, new) for old, new in zip(leaves(doc), leaves(changed), strict=True)]
    ((old, new),) = [pair for pair in pairs if pair[0] != pair[1]]
    assert words(new) == words(old).replace(find, replace)


@pytest.mark.req("TW-08", "TG-08")
def test_edits_are_made_in_order_and_one_that_fails_does_not_hold_up_the_others() -> None:
    after, outcomes = edited(
        "One fish, two fish.\n\nThree.",
        ("One", "A"),
        ("fish", "bird"),
        ("A fish", "A whale"),
        ("nowhere", "x"),
        ("fish", "bird", True),
    )
    assert after == "A whale, two bird.\n\nThree."
    assert [outcome.replacements for outcome in outcomes] == [1, 0, 1, 0, 1]
    assert "2 times" in str(outcomes[1].reason)
    assert "not on the page" in str(outcomes[3].reason)


def test_texts_that_overlap_are_two_for_one_edit_and_one_for_replace_all() -> None:
    assert "2 times" in reason("banana", "ana", "x")
    assert edited("banana", ("ana", "x", True))[0] == "bxna"


@pytest.mark.req("TW-08")
@pytest.mark.parametrize(
    ("before", "find", "replace"),
    [
        ("a word here", "word", "**word**"),
        ("a word here", "word", "`word`"),
        ("a word here", "a word", "a _word_"),
        ("a word here", "a word here", "## a word here"),
        ("a word here", "word", "[word](/x)"),
        ("a **word** here", "**word**", "word"),
        ("a **word** here", "**word**", "_word_"),
        ("a [word](/x) here", "[word](/x)", "[word](/y)"),
        ("- [ ] a word", "- [ ] a word", "- [x] a word"),
        ("nothing", "**word**", "word"),
    ],
)
def test_an_edit_of_nothing_but_formatting_is_refused(before: str, find: str, replace: str) -> None:
    assert "only in Markdown markup" in reason(before, find, replace)


def test_what_is_markup_elsewhere_is_text_in_code() -> None:
    after, _ = edited("```\nf(args)\n```", ("args", "*args*"))
    assert after == "```\nf(*args*)\n```"


def test_markup_that_stands_on_the_page_as_text_can_be_taken_away() -> None:
    assert edited(r"a \*\*word\*\* here", ("**word**", "word"))[0] == "a word here"


def test_an_empty_find_and_one_that_equals_its_replacement_are_refused() -> None:
    assert "empty" in reason("a", "", "b")
    assert "equal" in reason("a", "a", "a")
    assert "empty" in reason("a", "\0", "b")


@pytest.mark.req("TW-08")
def test_a_text_that_runs_across_blocks_is_refused_with_that_reason() -> None:
    for find in ("Monday: closed Bring a key", "Tue eight", "| Tue | eight |", "nine.\n\n- Monday"):
        assert "several blocks" in reason(EVERYWHERE, find, "x")
    assert "several blocks" in reason(EVERYWHERE, "> Quoted words\n\nMind the dog.", "x")
    assert "one paragraph" in reason(EVERYWHERE, "nine. Tue", "x")


def test_a_near_miss_is_told_with_what_the_page_has() -> None:
    assert "“It’s “fine””" in reason("It’s “fine”.", 'it\'s "fine"', "x")
    assert "“two words”" in reason("two words", "two  words ", "x")
    long = "a" * 300
    told = reason(f"{long} – b", f"{long} - b", "x")
    assert "– b" in told
    assert len(told) < 200


@pytest.mark.parametrize(
    ("before", "find", "replace", "after"),
    [
        ("foo **bar**", "foo **bar**", "foo **baz**", "foo **baz**"),
        (r"2 \* 3 \* 4", r"2 \* 3 \* 4", r"2 \* 3 \* 5", r"2 \* 3 \* 5"),
        ("AT&amp;amp;T", "AT&amp;amp;T", "BT&amp;amp;T", "BT&amp;amp;T"),
        ("- Buy milk", "- Buy milk", "- Buy bread", "- Buy bread"),
        ("## Old name", "## Old name", "## New name", "## New name"),
        ("one\\\ntwo", "one\\\ntwo", "one\\\nthree", "one\\\nthree"),
        ("[a](/x) **b** c", "[a](/x) **b** c", "[z](/x) **y** c", "[z](/x) **y** c"),
        ("a **b** c", "a **b** c", "", ""),
        (r"x\_ **y** z", r"x\_ **y** z ", "gone ", r"x\_ **y** z"),
    ],
)
def test_a_find_copied_from_markdown_is_read_as_markdown(
    before: str, find: str, replace: str, after: str
) -> None:
    assert edited(before, (find, replace))[0] == after


def test_a_replacement_that_would_bring_other_markup_is_refused() -> None:
    assert "other Markdown markup" in reason("foo **bar**", "foo **bar**", "foo _baz_")
    assert "other Markdown markup" in reason("foo **bar**", "**bar**", "one\n\ntwo **three**")


def test_a_line_break_is_a_hard_break_and_in_code_a_character() -> None:
    assert edited("one two", ("one two", "one\r\ntwo"))[0] == "one\\\ntwo"
    assert edited("one **two**", ("two", "2\n3"))[0] == "one **2\\\n3**"
    assert edited("one\\\ntwo", ("one\ntwo", "one two"))[0] == "one two"
    assert edited("```\na\nb\n```", ("a\nb", "c\n\nd"))[0] == "```\nc\n\nd\n```"
    assert edited("# One two", ("One two", "One\ntwo"))[0] == "# One<br>two"


def test_an_emptied_block_stays_as_an_empty_one() -> None:
    after, _ = edited("one\n\n- two\n\n```\nthree\n```", ("one", ""), ("two", ""), ("three", ""))
    assert after == "<p></p>\n\n-\n\n```\n```"


def test_a_mention_is_no_text_and_stays_where_it_stands() -> None:
    ann = node("mention", id="u1", label="Ann", entityType="user")
    doc = assign_ids(node("doc", [node("paragraph", [text("Ask ", []), ann, text(" now", [])])]))
    for find in ("Ask @Ann", "Ask  now", "\0"):
        unchanged, (outcome,) = edit_text(doc, [TextEdit(find, "x")])
        assert outcome.reason
        assert unchanged == doc
    changed, outcomes = edit_text(doc, [TextEdit("Ask ", ""), TextEdit(" now", "!")])
    assert [outcome.replacements for outcome in outcomes] == [1, 1]
    assert changed["content"][0]["content"] == [ann, text("!", [])]


def test_a_link_that_shows_its_address_leads_where_it_says() -> None:
    before = "At <https://old.org/a> and [docs](https://old.org/b)."
    after, (outcome,) = edited(before, ("old.org", "new.org", True))
    assert outcome.replacements == 1
    assert after == "At <https://new.org/a> and [docs](https://old.org/b)."
    assert edited("<https://a.org>", ("<https://a.org>", "<https://b.org>"))[0] == "<https://b.org>"
    assert edited("<https://a.org>", ("https://a.org", "here"))[0] == "[here](https://a.org)"


def test_growth_without_end_is_refused() -> None:
    many = "a " * (MAX_EDIT_REPLACEMENTS + 1)
    assert "more than" in reason(many, "a", "b", replace_all=True)
    half = "x" * (MAX_DOCUMENT_BYTES // 2)
    after, outcomes = edited("a b c", ("a", half), ("b", half), ("c", "d"))
    assert [bool(outcome.reason) for outcome in outcomes] == [False, True, False]
    assert "larger than" in str(outcomes[1].reason)
    assert after.endswith("b d")


def sayings(doc: JsonDict) -> list[tuple[int, int, str]]:
    """The texts between mentions: (index of the block, offset in its text, text)."""
    found = [
        (i, match)
        for i, leaf in enumerate(leaves(doc))
        for match in re.finditer("[^\0]+", words(leaf))
    ]
    return [(i, match.start(), match[0]) for i, match in found]


@st.composite
def edits_of_documents(draw: st.DrawFn) -> tuple[JsonDict, int, int, TextEdit]:
    """A document, and an edit of a text that it has: in which block, and where."""
    doc = draw(documents.map(assign_ids).filter(sayings))
    index, begin, said = draw(st.sampled_from(sayings(doc)))
    start = draw(st.integers(0, len(said) - 1))
    end = draw(st.integers(start + 1, len(said)))
    find = said[start:end]
    kept = draw(st.integers(0, len(find)))
    replace = draw(st.one_of(st.just(""), texts, texts.map(lambda new: find[:kept] + new)))
    return doc, index, begin + start, TextEdit(find, replace, draw(st.booleans()))


@pytest.mark.req("TW-08")
@settings(max_examples=250, deadline=None)
@given(edits_of_documents())
def test_after_any_edit_the_text_is_the_literal_replacement(
    given_: tuple[JsonDict, int, int, TextEdit],
) -> None:
    doc, index, start, edit = given_
    changed, (outcome,) = edit_text(doc, [edit])
    assert validate(changed) == changed
    assert ids(changed) == ids(doc)
    before, after = leaves(doc), leaves(changed)
    if outcome.reason:
        assert changed == doc
        return
    assert outcome.replacements == sum(words(leaf).count(edit.find) for leaf in before)
    for old, new in zip(before, after, strict=True):
        assert words(new) == words(old).replace(edit.find, edit.replace)
        assert edit.find in words(old) or old == new
    if outcome.replacements == 1:
        old_chars, new_chars = characters(before[index]), characters(after[index])
        behind = len(old_chars) - start - len(edit.find)
        assert new_chars[:start] == old_chars[:start]
        assert new_chars[len(new_chars) - behind :] == old_chars[len(old_chars) - behind :]


@settings(max_examples=100, deadline=None)
@given(edits_of_documents(), texts)
def test_an_edit_is_made_on_the_result_of_the_one_before(
    given_: tuple[JsonDict, int, int, TextEdit], new: str
) -> None:
    doc, _, _, one = given_
    other = TextEdit(one.replace or one.find, new, replace_all=True)
    changed, outcomes = edit_text(doc, [one, other])
    first, (before,) = edit_text(doc, [one])
    second, (after,) = edit_text(first, [other])
    assert (changed, outcomes) == (second, [before, after])


@settings(max_examples=150, deadline=None)
@given(documents, st.text() | texts, st.text() | texts, st.booleans())
def test_no_text_makes_an_edit_fail_in_another_way(
    doc: JsonDict, find: str, replace: str, replace_all: bool
) -> None:
    doc = assign_ids(doc)
    changed, (outcome,) = edit_text(doc, [TextEdit(find, replace, replace_all)])
    assert validate(changed) == changed
    assert ids(changed) == ids(doc)
    assert (changed == doc) or outcome.replacements


def test_marks_of_a_document_are_shared_by_no_two_edits() -> None:
    """An edit of one document leaves another that holds the same nodes alone."""
    bold = text("bold", [mark("bold")])
    one = assign_ids(node("doc", [node("paragraph", [bold])]))
    edit_text(one, [TextEdit("bold", "new")])
    assert bold == text("bold", [mark("bold")])
    assert words(one["content"][0]) == "bold"
