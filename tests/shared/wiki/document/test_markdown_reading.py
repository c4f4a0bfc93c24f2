"""Markdown to JSON: forms, front matter, and texts meant to break a reader."""

import os
from pathlib import Path

import pytest

from shared.core.tunables import MAX_DOCUMENT_DEPTH, MAX_MARKDOWN_CHARS
from shared.wiki.document import (
    EMPTY_DOC,
    InvalidDocumentError,
    JsonDict,
    from_markdown,
    from_markdown_async,
    split_title,
    to_markdown,
    to_text,
    validate,
)
from shared.wiki.document.schema import mark, node, text

FIXTURE = Path(__file__).parents[3] / "fixtures" / "document.md"
CORPORA = os.environ.get("PAGETURN_CORPORA")


def blocks_of(markdown: str) -> list[JsonDict]:
    doc = from_markdown(markdown).doc
    assert validate(doc) == doc
    assert from_markdown(to_markdown(doc)).doc == doc
    content: list[JsonDict] = doc["content"]
    return content


def p(*content: JsonDict | str) -> JsonDict:
    return node("paragraph", [text(c, []) if isinstance(c, str) else c for c in content])


def test_the_fixture_reads_as_expected() -> None:
    parsed = from_markdown(FIXTURE.read_text())
    assert parsed.title == "Onboarding"
    assert parsed.front_matter == {
        "title": "Onboarding",
        "tags": ["people", "first week"],
        "updated": "2026-03-01",
    }
    kinds = [block["type"] for block in blocks_of(FIXTURE.read_text())]
    assert kinds == [
        "heading", "paragraph", "heading", "taskList", "bulletList", "orderedList", "callout",
        "callout", "table", "paragraph", "paragraph", "image", "paragraph", "image",
        "horizontalRule", "heading", "codeBlock", "paragraph",
    ]  # fmt: skip
    said = to_text(parsed.doc)
    assert "<summary>Unknown HTML is text</summary> {{ page.title }} & more" in said
    assert '{% include "contacts.html" %}' in said
    assert "@Dana | a | b | now" in said
    assert "[an unsafe one](javascript:alert(1))" in said


def test_the_title_is_a_leading_level_one_heading_and_can_be_split_off() -> None:
    parsed = from_markdown("# The *title*\n\ntext")
    assert parsed.title == "The title"
    assert parsed.doc["content"][0]["type"] == "heading"
    assert split_title(parsed).doc["content"] == [p("text")]
    assert split_title(from_markdown("# Only")).doc == EMPTY_DOC
    for other in ("text\n\n# Late", "## Two", "", "#"):
        parsed = from_markdown(other)
        assert parsed.title is None
        assert split_title(parsed) is parsed


def test_callouts_are_read_from_fences_and_from_alerts() -> None:
    expected = [node("callout", [p("a"), p("b")], type="danger")]
    assert blocks_of(":::danger\na\n\nb\n:::") == expected
    assert blocks_of("> [!CAUTION]\n> a\n>\n> b") == expected
    assert blocks_of("::: error\na\n\nb\n:::") == expected
    titled = blocks_of(":::note[Read this]\n:::")
    assert titled == [node("callout", [p(text("Read this", [mark("bold")]))], type="note")]
    assert blocks_of("> [!NOTE]") == [node("callout", [p()], type="note")]


def test_callouts_nest_and_hold_code_that_looks_like_their_end() -> None:
    inner = node("callout", [node("codeBlock", [text(":::", [])])], type="tip")
    markdown = ":::info\n:::tip\n```\n:::\n```\n:::\n:::"
    assert blocks_of(markdown) == [node("callout", [inner], type="info")]


@pytest.mark.parametrize(
    "markdown", [":::info\na", "a\n\n:::", ":::unknown\na\n:::", "> [!WHAT]\n> a", "</td>", "<tr>"]
)
def test_a_form_that_is_not_complete_is_text(markdown: str) -> None:
    kinds = {block["type"] for block in blocks_of(markdown)}
    assert kinds <= {"paragraph", "blockquote"}
    assert markdown.replace("> ", "").split("\n")[0] in to_text(from_markdown(markdown).doc)


def test_a_list_that_is_a_task_list_in_part_becomes_several_lists() -> None:
    kinds = [b["type"] for b in blocks_of("- a\n- [x] b\n- [ ]\n- c")]
    assert kinds == ["bulletList", "taskList", "bulletList"]
    assert blocks_of("- \\[x] b")[0]["type"] == "bulletList"


def test_an_image_is_a_block_of_its_own() -> None:
    image = node("image", src="a.png", alt="A")
    assert blocks_of("one ![A](a.png) two") == [p("one"), image, p("two")]
    assert blocks_of("# ![A](a.png)") == [image]
    linked = p(text("A", [mark("link", href="/x")]))
    assert blocks_of("[![A](a.png)](/x)") == [image, linked]
    wide = node("image", src="a.png", alt="A", width=40)
    assert blocks_of('<img alt="A" src="a.png" class="x" width="40px">') == [wide]
    assert blocks_of("![A](data:image/png;base64,xx)")[0]["type"] == "paragraph"


def test_code_drops_other_marks_but_keeps_a_link() -> None:
    link = mark("link", href="/x")
    assert blocks_of("**`a`** [`b`](/x)") == [
        p(text("a", [mark("code")]), " ", text("b", [link, mark("code")]))
    ]


def test_mapped_tags_become_marks_and_other_html_stays_text() -> None:
    found = blocks_of('<u>a</u><mark data-color="#ff0">b</mark><font color="red">c</font></u>')
    assert found == [
        p(
            text("a", [mark("underline")]),
            text("b", [mark("highlight", color="#ff0")]),
            '<font color="red">c</font></u>',
        )
    ]


@pytest.mark.parametrize(
    ("source", "front_matter", "said"),
    [
        ("---\na: 1\n---\nx", {"a": 1}, "x"),
        ("---\r\na: 1\r\n...\r\nx", {"a": 1}, "x"),
        ("\ufeff---\n---\nx", {}, "x"),
        ("---\na: [\n---\nx", {}, "x"),
        ("---\na: 2020-99-99\n---\nx", {}, "x"),
        ("---\na: &a [x]\nb: *a\n---\nx", {}, "x"),
        ("---\n" + "[" * 5_000 + "\n---\nx", {}, "x"),
        ("---\n? [k]\n: !!python/object:os.system x\n---\nx", {}, "x"),
        ("---\n5: {2: .nan}\n---\nx", {"5": {"2": "nan"}}, "x"),
        ('---\na: "\\ud800\\0"\n---\nx', {"a": "\ufffd"}, "x"),
        ("---\na: 0x" + "f" * 9_000 + "\n---\nx", {}, "x"),
        ("---\nsome words\n---\nx", {}, "some words\n\nx"),
        ("---\na: 1\nx", {}, "a: 1 x"),
        ("x\n\n---\na: 1\n---", {}, "x\n\na: 1"),
    ],
)
def test_front_matter_is_split_off_and_never_fails(
    source: str, front_matter: JsonDict, said: str
) -> None:
    parsed = from_markdown(source)
    assert parsed.front_matter == front_matter
    assert to_text(parsed.doc) == said


def test_nul_and_half_surrogates_are_cleaned() -> None:
    assert blocks_of("a\0b\ud800c\udfff") == [p("ab\ufffdc\ufffd")]


@pytest.mark.parametrize(
    "source",
    [
        ">" * 10_000 + " end",
        "".join("  " * level + "- end\n" for level in range(500)),
        "* " * 5_000 + "end",
        "> - " * 300 + "end",
        ":::info\n" * 5_000 + "end\n" + ":::\n" * 5_000,
        '<table data-type="table">\n<tr>\n<td>\n' * 200
        + "end\n"
        + "</td>\n</tr>\n</table>\n" * 200,
        "> " * (MAX_DOCUMENT_DEPTH - 4) + "| end |\n" + "> " * (MAX_DOCUMENT_DEPTH - 4) + "|---|",
    ],
    ids=["quotes", "lists", "stars", "mixed", "callouts", "tables", "table in quotes"],
)
def test_nesting_beyond_the_limit_is_flattened_and_nothing_is_lost(source: str) -> None:
    doc = from_markdown(source).doc
    assert validate(doc) == doc
    assert to_text(doc).rstrip("\n").endswith("end")


def test_a_document_as_deep_as_may_be_survives_markdown() -> None:
    for around in ("blockquote", "callout"):
        inner = p("x")
        for _ in range(MAX_DOCUMENT_DEPTH - 3):
            inner = node(around, [inner])
        doc = validate(node("doc", [inner]))
        assert from_markdown(to_markdown(doc)).doc == doc


@pytest.mark.parametrize(
    "source",
    [
        "[" * 20_000, "![" * 10_000, "[a][b" * 4_000, "*a **a *" * 3_000, "`" * 20_000,
        "<" * 20_000, "&#12;&#13;&#11;&#0;&#xd800;",
        "<!-- " * 5_000, "<img " * 5_000, "<img" + " " * 20_000, "![" * 3_000 + "](x)" * 3_000,
        '<span data-type="mention">@' * 2_000, "<u>" * 5_000, "</tr>\n" * 3_000, "&" * 20_000,
        "\\" * 20_000, "[a]: /" + "u" * 2_000 + "\n\n" + "[a]" * 20_000, "|" * 20_000,
    ],
)  # fmt: skip
def test_texts_meant_to_break_a_reader_become_valid_documents(source: str) -> None:
    doc = from_markdown(source).doc
    assert validate(doc) == doc


async def test_a_large_text_is_read_off_the_event_loop_and_a_huge_one_is_refused() -> None:
    large = "word " * 20_000
    assert await from_markdown_async(large) == from_markdown(large)
    assert await from_markdown_async("# a") == from_markdown("# a")
    with pytest.raises(InvalidDocumentError):
        await from_markdown_async("x" * (MAX_MARKDOWN_CHARS + 1))


@pytest.mark.skipif(not CORPORA, reason="PAGETURN_CORPORA is not set")
def test_every_page_of_a_real_handbook_is_read_and_survives_markdown() -> None:
    files = sorted(Path(CORPORA or "", "handbook").rglob("*.md"))
    assert len(files) == 246
    for file in files:
        doc = from_markdown(file.read_text()).doc
        assert validate(doc) == doc, file
        assert from_markdown(to_markdown(doc)).doc == doc, file
