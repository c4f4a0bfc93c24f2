"""Documents in normal form for property tests."""

from typing import Any

from hypothesis import strategies as st

from shared.wiki.document.attributes import CALLOUT_TYPES, MENTION_TYPES
from shared.wiki.document.check import joined_texts
from shared.wiki.document.schema import MARK_RANK, JsonDict, mark, node, text

MARKUP = "*_~`[]()<>!#|\\-+=.:;&\"'/@{}%$^ \t\n1aZé\u00a0\u2003\u2028\x1c\x85𝄞\ufeff"
SNIPPETS = (
    "# ", "- ", "1. ", "> ", "```", "~~~", ":::", ":::info", "---", "===", "| a |", "|---|",
    "[ ] ", "[x] ", "[!NOTE]", "<b>", "</b>", "<br>", "<p></p>", "</td>", "<tr>", "&amp;", "&#32;",
    "&lt;", "**", "__", "![", "](x)", "<http://a.b>", "http://a.b", "[a]: b", "[#abcdefabcdef]",
    "{% raw %}", "{{ x }}", "snake_case", "a*b*c", "2 < 3", "C:\\dir", "   x", "x  ",
    "<table data-type=\"table\">", "<!-- x -->", "AT&T", "~", "\\",
)  # fmt: skip

texts = st.lists(
    st.one_of(st.sampled_from(SNIPPETS), st.text(MARKUP, max_size=6), st.text("ab cd", max_size=5)),
    min_size=1,
    max_size=3,
).map("".join).filter(bool)  # fmt: skip
words = st.text("abc DEF", min_size=1, max_size=12)
labels = st.text("ab *_`|<>&\"'[]\\!é@", max_size=10)
hrefs = st.sampled_from(
    ["https://a.b/c", "/p/1", "#x", "a b.pdf", "x(y).html", "mailto:a@b.c", "?q=1&amp=2&lt;",
     "http://a.b/<x>", "a|b", "a\\b", "/ü", "https://a.b/*_x_*", "tel:1"]
)  # fmt: skip
titles = st.none() | labels.filter(bool)

_PLAIN_MARKS = ("bold", "italic", "strike", "underline", "superscript", "subscript")


def _mark_sets() -> st.SearchStrategy[list[JsonDict]]:
    link = st.builds(lambda href, title: mark("link", href=href, title=title), hrefs, titles)
    color = st.sampled_from([None, "#ff0", "yellow"])
    highlight = st.builds(lambda value: mark("highlight", color=value), color)
    plain = st.sampled_from(_PLAIN_MARKS).map(mark)
    usual = st.lists(
        st.one_of(plain, plain, highlight, link), max_size=3, unique_by=lambda m: m["type"]
    )
    code = st.lists(link, max_size=1).map(lambda links: [*links, mark("code")])
    return st.one_of(st.just([]), usual, usual, code).map(
        lambda marks: sorted(marks, key=lambda item: MARK_RANK[item["type"]])
    )


def _marked(item: JsonDict, marks: list[JsonDict]) -> JsonDict:
    return {**item, "marks": marks} if marks else item


def _inline_node(content: st.SearchStrategy[str]) -> st.SearchStrategy[JsonDict]:
    mention = st.builds(
        lambda ident, label, kind: node("mention", id=ident, label=label, entityType=kind),
        st.sampled_from(["u1", "0190-aa"]),
        labels,
        st.sampled_from(MENTION_TYPES),
    )
    made = st.builds(text, content, _mark_sets())
    other = st.builds(_marked, st.one_of(mention, st.just(node("hardBreak"))), _mark_sets())
    return st.one_of(made, made, made, other)


def inline(content: st.SearchStrategy[str] = texts) -> st.SearchStrategy[list[JsonDict]]:
    """Inline content in normal form."""
    return st.lists(_inline_node(content), max_size=5).map(joined_texts)


images = st.builds(
    lambda src, alt, title, width: node("image", src=src, alt=alt, title=title, width=width),
    st.sampled_from(["https://a.b/c.png", "/files/a b.png", "x(1).png"]),
    titles,
    titles,
    st.none() | st.integers(1, 900),
)
paragraphs = inline().map(lambda content: node("paragraph", content))
leaves = st.one_of(
    paragraphs,
    paragraphs,
    st.builds(
        lambda content, level: node("heading", content, level=level), inline(), st.integers(1, 6)
    ),
    st.builds(
        lambda code, name: node("codeBlock", [text(code, [])] if code else None, language=name),
        st.one_of(st.just(""), texts, texts.map(lambda code: code + "\n    </td>\n\n:::\n````")),
        st.sampled_from([None, "python", "c++"]),
    ),
    st.just(node("horizontalRule")),
    images,
)  # fmt: skip


def _items(kind: str, blocks: st.SearchStrategy[JsonDict], **attrs: Any) -> Any:
    def item(first: JsonDict, rest: list[JsonDict], values: dict[str, Any]) -> JsonDict:
        return node(kind, [first, *rest], **values)

    rest = st.lists(blocks, max_size=2)
    return st.lists(
        st.builds(item, paragraphs, rest, st.fixed_dictionaries(attrs)), min_size=1, max_size=3
    )


def _tables(blocks: st.SearchStrategy[JsonDict]) -> st.SearchStrategy[JsonDict]:
    simple = st.one_of(paragraphs, images).map(lambda block: [block])
    contents = st.lists(st.lists(simple, min_size=2, max_size=2), min_size=1, max_size=3)
    plain = contents.map(
        lambda rows: node("table", [
            node("tableRow", [node("tableCell" if y else "tableHeader", cell) for cell in row])
            for y, row in enumerate(rows)
        ])
    )  # fmt: skip
    cell = st.builds(
        lambda kind, content, colspan, rowspan, widths: node(
            kind, content, colspan=colspan, rowspan=rowspan, colwidth=widths
        ),
        st.sampled_from(["tableCell", "tableHeader"]),
        st.lists(blocks, min_size=1, max_size=2),
        st.integers(1, 3),
        st.integers(1, 3),
        st.none() | st.lists(st.integers(0, 300), min_size=1, max_size=2),
    )
    row = st.lists(cell, max_size=2).map(lambda cells: node("tableRow", cells))
    complex_ = st.lists(row, min_size=1, max_size=2).map(lambda rows: node("table", rows))
    return st.one_of(plain, plain, complex_)


def _containers(blocks: st.SearchStrategy[JsonDict]) -> st.SearchStrategy[JsonDict]:
    some = st.lists(blocks, min_size=1, max_size=3)
    return st.one_of(
        some.map(lambda content: node("blockquote", content)),
        st.builds(
            lambda content, kind: node("callout", content, type=kind),
            some,
            st.sampled_from(CALLOUT_TYPES),
        ),
        _items("listItem", blocks).map(lambda items: node("bulletList", items)),
        st.builds(
            lambda items, start: node("orderedList", items, start=start),
            _items("listItem", blocks),
            st.sampled_from([0, 1, 9, 999_999_999]),
        ),
        _items("taskItem", blocks, checked=st.booleans()).map(
            lambda items: node("taskList", items)
        ),
        _tables(blocks),
    )


any_block = st.recursive(leaves, _containers, max_leaves=8)
documents = st.lists(any_block, min_size=1, max_size=5).map(lambda content: node("doc", content))

_lines = st.lists(
    st.one_of(st.sampled_from(SNIPPETS), st.text(MARKUP, max_size=4), st.just("  "), words),
    max_size=5,
).map("".join)
markdown_texts = st.lists(_lines, max_size=8).map("\n".join)
