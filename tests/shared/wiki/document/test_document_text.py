"""Plain text, and where each block stands in it."""

from document_strategies import documents
from hypothesis import given, settings

from shared.wiki.document import EMPTY_DOC, JsonDict, assign_ids, blocks, from_markdown, to_text

PAGE = """# Guide

Hello **you**,\\
and <span data-type="mention" data-id="u1" data-entity-type="user">@Dana</span>.

## Fruit

- apples
  - red
- [ ] pears

### Colours

| Name | Colour |
| --- | --- |
| plum | `blue` |

---

## Code

```
a

b
```

![A map](/map.png)

> quoted
"""

TEXT = """Guide

Hello you,
and @Dana.

Fruit

apples
red

pears

Colours

Name | Colour
plum | blue

Code

a

b

A map

quoted"""


def test_text_has_a_line_or_several_for_each_block() -> None:
    assert to_text(from_markdown(PAGE).doc) == TEXT
    assert to_text(EMPTY_DOC) == ""


def test_blocks_carry_id_type_and_the_headings_above_them() -> None:
    doc = assign_ids(from_markdown(PAGE).doc)
    found = [(block.type, block.heading_path) for block in blocks(doc)]
    assert found == [
        ("heading", ()),
        ("paragraph", ("Guide",)),
        ("heading", ("Guide",)),
        ("bulletList", ("Guide", "Fruit")),
        ("taskList", ("Guide", "Fruit")),
        ("heading", ("Guide", "Fruit")),
        ("table", ("Guide", "Fruit", "Colours")),
        ("heading", ("Guide",)),
        ("codeBlock", ("Guide", "Code")),
        ("image", ("Guide", "Code")),
        ("blockquote", ("Guide", "Code")),
    ]
    with_text = [b["attrs"]["id"] for b in doc["content"] if b["type"] != "horizontalRule"]
    assert [block.id for block in blocks(doc)] == with_text


@settings(max_examples=50, deadline=None)
@given(documents)
def test_offsets_are_exact(doc: JsonDict) -> None:
    whole = to_text(doc)
    end = 0
    for block in blocks(doc):
        assert whole[block.start : block.end] == block.text
        assert block.start >= end
        end = block.end
    assert end == len(whole)
