"""What is typed becomes words, phrases and exclusions; nothing typed is an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.tunables import MAX_QUERY_WORDS
from shared.search.query import Unit, parse


def test_words_phrases_and_exclusions_are_told_apart() -> None:
    query = parse('travel "paid leave" -hotel')
    assert query.units == (
        Unit("travel"),
        Unit("paid leave", phrase=True),
        Unit("hotel", excluded=True),
    )


def test_the_last_word_may_still_be_typed_unless_a_sign_follows_it() -> None:
    assert parse("paid vacat").units[-1] == Unit("vacat", prefix=True)
    assert parse("paid leave?").units[-1] == Unit("leave")
    assert parse("a").units == (Unit("a"),)


@pytest.mark.parametrize("text", ["", "   ", "?!", '""', "-", "\0\n", "👍 🎉"])
def test_text_without_words_is_an_empty_query(text: str) -> None:
    assert parse(text).is_empty


def test_a_query_of_exclusions_alone_is_empty() -> None:
    assert parse("-travel").is_empty


def test_scripts_without_spaces_become_pairs_of_characters() -> None:
    query = parse("申请休假 leave")
    assert query.grams == ("申请", "请休", "休假")
    assert [unit.text for unit in query.units] == ["leave"]
    assert parse("水").grams == ("水",)


@given(st.text(max_size=2_000))
def test_any_text_gives_a_bounded_query_of_storable_characters(text: str) -> None:
    query = parse(text)
    assert len(query.units) <= MAX_QUERY_WORDS
    for unit in query.units:
        assert unit.text.encode()
        assert "\0" not in unit.text
