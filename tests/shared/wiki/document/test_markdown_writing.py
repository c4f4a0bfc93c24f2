"""JSON to Markdown: how it looks. That it reads back is tested in the round trip."""

import pytest

from shared.wiki.document import (
    EMPTY_DOC,
    JsonDict,
    assign_ids,
    from_markdown,
    to_markdown,
)
from shared.wiki.document.schema import mark, node, text

PAGE = """\
# Release 2_0

The plan is **ready**, see [the board](https://example.org/board "Board") and `make run`.

| Step | Owner |
| --- | --- |
| Build \\| test | _Dana_ |
| Ship |  |

:::warning
Freeze on Friday.

- no merges
- no deploys
:::

```python
print("`ok`")
```

1. One
2. Two
   - [x] not a task

- [x] a task
  - [ ] another
"""


@pytest.mark.req("TR-02")
def test_a_page_with_table_callout_and_code_is_written_as_expected() -> None:
    assert to_markdown(from_markdown(PAGE).doc) + "\n" == PAGE


def p(*content: JsonDict | str) -> JsonDict:
    return node("paragraph", [text(c, []) if isinstance(c, str) else c for c in content])


def written(*blocks: JsonDict) -> str:
    doc = node("doc", list(blocks))
    markdown = to_markdown(doc)
    assert from_markdown(markdown).doc == doc
    return markdown


def test_ordinary_text_is_not_escaped() -> None:
    said = "snake_case, AT&T, 2 < 3, ~5, a-b; 1.5 (x) #tag - {{ x }} {% y %}!"
    assert written(p(said)) == said


@pytest.mark.parametrize(
    ("said", "markdown"),
    [
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("12. a", "12\\. a"),
        ("> a", "\\> a"),
        ("*a* [b](c) `d`", "\\*a\\* \\[b\\](c) \\`d\\`"),
        ("<b> &amp;", "\\<b> &amp;amp;"),
        (":::info", "\\:::info"),
        ("---", "\\---"),
        (" a ", "&#32;a&#32;"),
        ("a\nb", "a&#10;b"),
        ("[#abcdefabcdef]", "\\[#abcdefabcdef\\]"),
    ],
)
def test_text_that_looks_like_markup_is_escaped(said: str, markdown: str) -> None:
    assert written(p(said)) == markdown


def test_a_mark_is_a_tag_only_where_delimiters_would_be_read_otherwise() -> None:
    bold = [mark("bold")]
    assert written(p("a ", text("b", bold), " c")) == "a **b** c"
    assert written(p("a", text("b", bold), "c")) == "a<strong>b</strong>c"
    assert written(p(text(" b", bold))) == "<strong> b</strong>"
    both = [mark("bold"), mark("italic")]
    assert written(p(text("a ", bold), text("b", both))) == "**a _b_**"


def test_what_markdown_cannot_hold_is_written_as_marked_html() -> None:
    mention = node("mention", id="u1", label='A <"B">', entityType="user")
    assert written(p(mention)) == (
        '<span data-type="mention" data-id="u1" data-entity-type="user">'
        "@A &lt;&quot;B&quot;&gt;</span>"
    )
    assert written(p(text("x", [mark("highlight", color="#ff0")]))) == (
        '<mark data-color="#ff0">x</mark>'
    )
    image = node("image", src="a.png", alt="A", width=40)
    assert written(image) == '<img src="a.png" alt="A" width="40">'


def test_a_table_that_gfm_cannot_say_is_written_with_tags() -> None:
    cell = node("tableCell", [p("a"), p("b")], colspan=2, colwidth=[50, 60])
    table = node("table", [node("tableRow", [cell])])
    assert written(table).split("\n") == [
        '<table data-type="table">', "<tr>", '<td colspan="2" colwidth="50,60">',
        "", "a", "", "b", "", "</td>", "</tr>", "</table>",
    ]  # fmt: skip


def test_code_that_looks_like_the_end_of_a_tagged_table_stays_in_its_cell() -> None:
    code = node("codeBlock", [text("</td>\n</table>\n```", [])])
    written(node("table", [node("tableRow", [node("tableCell", [code])])]), p("after"))


def test_neighbouring_lists_stay_apart() -> None:
    one, other = (node("bulletList", [node("listItem", [p(word)])]) for word in "ab")
    assert written(one, other, one) == "- a\n\n* b\n\n- a"
    numbered = node("orderedList", [node("listItem", [p("a")])])
    assert written(numbered, numbered) == "1. a\n\n1) a"


def test_empty_paragraphs_survive() -> None:
    assert to_markdown(EMPTY_DOC) == ""
    assert written(p("a"), p(), p()) == "a\n\n<p></p>\n\n<p></p>"


def test_a_document_that_begins_with_rules_has_no_front_matter() -> None:
    rule = node("horizontalRule")
    assert written(rule, p("a: 1"), rule) == "***\n\na: 1\n\n---"


def test_block_ids_stand_before_top_level_blocks_and_are_dropped_when_read() -> None:
    doc = assign_ids(from_markdown("# A\n\n- b\n- c\n\n> d").doc)
    markdown = to_markdown(doc, block_ids=True)
    ids = [block["attrs"]["id"] for block in doc["content"]]
    assert markdown == f"[#{ids[0]}]\n# A\n\n[#{ids[1]}]\n- b\n- c\n\n[#{ids[2]}]\n> d"
    assert from_markdown(markdown) == from_markdown("# A\n\n- b\n- c\n\n> d")
