"""JSON to Markdown and back."""

import pytest
from document_strategies import documents, markdown_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.wiki.document import JsonDict, from_markdown, to_markdown, validate


@pytest.mark.req("WK-28")
@settings(max_examples=300, deadline=None)
@given(documents)
def test_a_document_survives_markdown(doc: JsonDict) -> None:
    assert validate(doc) == doc
    markdown = to_markdown(doc)
    assert from_markdown(markdown).doc == doc, markdown


@settings(max_examples=300, deadline=None)
@given(st.text() | markdown_texts)
def test_any_text_becomes_a_valid_document_that_is_stable(source: str) -> None:
    doc = from_markdown(source).doc
    assert validate(doc) == doc
    assert from_markdown(to_markdown(doc)).doc == doc
