"""What a document may be, and where an invalid one is said to be wrong."""

from typing import Any

import pytest

from shared.core.tunables import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, MAX_URL_CHARS
from shared.wiki.document import (
    EMPTY_DOC,
    SCHEMA,
    InvalidDocumentError,
    validate,
    validate_async,
    walk_blocks,
)
from shared.wiki.document.schema import BLOCK_TYPES, MARK_RANK, JsonDict, mark, node, text


def every_node() -> JsonDict:
    """A document with one of each node and mark, in normal form."""
    words = node("paragraph", [text("words", [])])
    usual = [mark(name) for name in MARK_RANK if name not in ("link", "code", "highlight")]
    inline = [
        text("all", sorted([*usual, mark("highlight", color="#ff0")], key=_rank)),
        text("code", [mark("link", href="/p", title="T"), mark("code")]),
        node("hardBreak"),
        node("mention", id="u1", label="Dana", entityType="user"),
    ]
    row = node(
        "tableRow",
        [
            node("tableHeader", [words]),
            node("tableCell", [words, node("horizontalRule")], colspan=2, colwidth=[80, 90]),
        ],
    )
    return node(
        "doc",
        [
            node("heading", [text("Title", [])], level=3),
            node("paragraph", inline),
            node("bulletList", [node("listItem", [words])]),
            node("orderedList", [node("listItem", [words])], start=4),
            node("taskList", [node("taskItem", [words], checked=True)]),
            node("table", [row]),
            node("codeBlock", [text("a\n", [])], language="python"),
            node("blockquote", [words]),
            node("callout", [words], type="warning"),
            node("horizontalRule"),
            node("image", src="/files/a.png", alt="A", title="B", width=300),
        ],
    )


def _rank(item: JsonDict) -> int:
    return MARK_RANK[item["type"]]


def in_doc(*blocks: Any) -> JsonDict:
    return {"type": "doc", "content": list(blocks)}


def words_with(**changes: Any) -> JsonDict:
    return {"type": "paragraph", "content": [{"type": "text", "text": "x", **changes}]}


def fault(content: object) -> str:
    with pytest.raises(InvalidDocumentError) as caught:
        validate(content)
    assert caught.value.code == "invalid_document"
    caught.value.message.encode()
    path: str = caught.value.details["path"]
    assert path in caught.value.message
    return path


def test_one_of_each_node_and_mark_is_valid_and_in_normal_form() -> None:
    doc = every_node()
    assert validate(doc) == doc
    seen = {block["type"] for block in walk_blocks(doc)}
    assert seen == BLOCK_TYPES
    assert seen | {"doc", "text", "hardBreak", "mention"} == set(SCHEMA.nodes)


def test_every_block_type_has_an_id_that_may_be_null() -> None:
    for name, kind in SCHEMA.nodes.items():
        if kind.is_block and name != "doc":
            assert kind.attrs["id"].default is None, name


def test_the_empty_document_is_valid() -> None:
    assert validate(EMPTY_DOC) == EMPTY_DOC


def test_the_normal_form_fills_defaults_joins_texts_and_orders_marks() -> None:
    bold, link = {"type": "bold"}, {"type": "link", "attrs": {"href": "/a"}}
    raw = in_doc(
        {
            "type": "heading",
            "content": [
                {"type": "text", "text": "a\r\nb", "marks": [bold, link]},
                {"type": "text", "text": "c\rd", "marks": [link, bold]},
                {"type": "text", "text": "e"},
            ],
        },
        {"type": "image", "attrs": {"src": "a.png", "alt": ""}, "content": []},
    )
    marks = [mark("link", href="/a"), mark("bold")]
    expected = in_doc(
        node("heading", [text("a\nbc\nd", marks), text("e", [])], level=1),
        node("image", src="a.png"),
    )
    assert validate(raw) == expected
    assert raw["content"][0]["content"][0]["text"] == "a\r\nb"


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (None, ""),
        ([], ""),
        ({}, "type"),
        ({"type": ["doc"]}, "type"),
        ({"type": "paragraph"}, "type"),
        ({"type": "doc"}, ""),
        ({"type": "doc", "content": {}}, "content"),
        (in_doc(None), "content.0"),
        (in_doc("text"), "content.0"),
        (in_doc({"type": "video"}), "content.0.type"),
        (in_doc({"type": "paragraph", "html": "x"}), "content.0.html"),
        (in_doc({"type": "paragraph", "text": "x"}), "content.0.text"),
        (in_doc({"type": "paragraph", "attrs": []}), "content.0.attrs"),
        (in_doc({"type": "paragraph", "attrs": {"align": "left"}}), "content.0.attrs.align"),
        (in_doc({"type": "paragraph", "attrs": {"id": 5}}), "content.0.attrs.id"),
        (in_doc({"type": "heading", "attrs": {"level": 7}}), "content.0.attrs.level"),
        (in_doc({"type": "heading", "attrs": {"level": True}}), "content.0.attrs.level"),
        (in_doc({"type": "heading", "attrs": {"level": "1"}}), "content.0.attrs.level"),
        (in_doc({"type": "callout", "attrs": {"type": "loud"}}), "content.0.attrs.type"),
        (in_doc({"type": "callout", "attrs": {"type": []}}), "content.0.attrs.type"),
        (in_doc({"type": "codeBlock", "attrs": {"language": "a b"}}), "content.0.attrs.language"),
        (in_doc({"type": "image"}), "content.0.attrs.src"),
        (in_doc({"type": "image", "attrs": {"src": "a", "width": 1.5}}), "content.0.attrs.width"),
        (in_doc({"type": "table"}), "content.0"),
        (in_doc(node("paragraph"), {"type": "table", "content": []}), "content.1"),
        (in_doc({"type": "table", "content": [{"type": "paragraph"}]}), "content.0.content.0"),
        (in_doc({"type": "listItem", "content": [node("paragraph")]}), "content.0"),
        (in_doc({"type": "text", "text": "x"}), "content.0"),
        (in_doc({"type": "doc", "content": [node("paragraph")]}), "content.0"),
        (in_doc(words_with(text="")), "content.0.content.0.text"),
        (in_doc(words_with(text=None)), "content.0.content.0.text"),
        (in_doc(words_with(content=[])), "content.0.content.0.content"),
        (in_doc(words_with(marks="bold")), "content.0.content.0.marks"),
        (in_doc(words_with(marks=[7])), "content.0.content.0.marks.0"),
        (in_doc(words_with(marks=[{"type": "blink"}])), "content.0.content.0.marks.0.type"),
        (
            in_doc(words_with(marks=[{"type": "bold", "attrs": {"x": 1}}])),
            "content.0.content.0.marks.0.attrs.x",
        ),
        (
            in_doc(words_with(marks=[{"type": "bold"}, {"type": "code"}])),
            "content.0.content.0.marks",
        ),
        (
            in_doc(words_with(marks=[{"type": "link", "attrs": {}}])),
            "content.0.content.0.marks.0.attrs.href",
        ),
        (
            in_doc({"type": "codeBlock", "content": [text("x", [mark("bold")])]}),
            "content.0.content.0.marks",
        ),
    ],
)
def test_a_fault_is_named_by_its_path(content: object, path: str) -> None:
    assert fault(content) == path


def test_texts_that_would_be_joined_do_not_shift_the_path_of_a_fault() -> None:
    pieces = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    raw = in_doc({"type": "paragraph", "content": [*pieces, {"type": "horizontalRule"}]})
    assert fault(raw) == "content.0.content.2"


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b", "\udfff"])
def test_nul_and_half_surrogates_are_refused_everywhere(bad: str) -> None:
    assert fault(in_doc(words_with(text=bad))) == "content.0.content.0.text"
    assert fault(in_doc({"type": "image", "attrs": {"src": bad}})) == "content.0.attrs.src"
    assert fault(in_doc({"type": bad})) == "content.0.type"
    assert fault(in_doc({"type": "paragraph", bad: 1})).startswith("content.0.")
    assert fault(in_doc({"type": "paragraph", "attrs": {bad: 1}})).startswith("content.0.attrs.")


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "java\u200bscript:alert(1)",
        "\u00a0javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:x",
        "",
        "x" * (MAX_URL_CHARS + 1),
    ],
)
def test_an_unsafe_address_is_refused(href: str) -> None:
    link = in_doc(words_with(marks=[{"type": "link", "attrs": {"href": href}}]))
    assert fault(link) == "content.0.content.0.marks.0.attrs.href"
    assert fault(in_doc({"type": "image", "attrs": {"src": href}})) == "content.0.attrs.src"


@pytest.mark.parametrize(
    "href",
    [
        "https://a.b", "http://a.b", "mailto:a@b.c", "tel:+41", "/p", "a b.pdf", "#x", "?q=a:b",
        "//host/p",
    ],
)  # fmt: skip
def test_a_safe_address_is_taken(href: str) -> None:
    doc = in_doc(node("paragraph", [text("x", [mark("link", href=href)])]))
    assert validate(doc) == doc


def test_an_image_takes_no_mail_address() -> None:
    assert fault(in_doc({"type": "image", "attrs": {"src": "mailto:a@b.c"}}))


def nested(levels: int, around: str = "blockquote") -> JsonDict:
    inner = node("paragraph", [text("x", [])])
    for _ in range(levels):
        inner = node(around, [inner])
    return in_doc(inner)


def test_depth_is_bounded_without_recursion() -> None:
    deepest = nested(MAX_DOCUMENT_DEPTH - 3)
    assert validate(deepest) == deepest
    assert fault(nested(MAX_DOCUMENT_DEPTH - 2)).endswith("content.0")
    assert fault(nested(10_000)).count("content") == MAX_DOCUMENT_DEPTH


def test_deep_nesting_in_an_attribute_or_a_mark_is_refused() -> None:
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    assert fault(in_doc({"type": "image", "attrs": {"src": deep}})) == "content.0.attrs.src"
    assert fault(in_doc(words_with(marks=deep))) == "content.0.content.0.marks.0"


def test_size_is_bounded() -> None:
    assert fault(in_doc(words_with(text="x" * (MAX_DOCUMENT_BYTES + 1)))) == ""
    assert fault(in_doc(words_with(text='"' * (MAX_DOCUMENT_BYTES - 100)))) == ""
    shared = [node("paragraph")] * 1_000
    assert fault(in_doc(*[{"type": "blockquote", "content": shared}] * 1_000)) == ""


async def test_a_large_document_is_checked_off_the_event_loop() -> None:
    doc = in_doc(*[node("paragraph", [text("x" * 100, [])])] * 1_000)
    assert await validate_async(doc) == doc
    assert await validate_async(EMPTY_DOC) == EMPTY_DOC
    for bad in (nested(10_000), in_doc(words_with(text="\ud800")), {1, 2}):
        with pytest.raises(InvalidDocumentError):
            await validate_async(bad)
