"""A snippet is short, whole words, and shows what was looked for."""

from hypothesis import given
from hypothesis import strategies as st

from shared.core.tunables import SNIPPET_CHARS
from shared.search.snippets import snippet


def test_a_short_text_is_shown_whole_in_one_line() -> None:
    assert snippet("One\n\n two  three", ["two"]) == "One two three"


def test_a_long_text_is_cut_between_words_around_the_terms() -> None:
    text = "filler words here " * 60 + "the annual leave form " + "and more filler " * 60
    cut = snippet(text, ["annual", "leave"])
    assert len(cut) <= SNIPPET_CHARS
    assert "annual leave form" in cut
    assert cut[0] == cut[-1] == "…"
    assert set(cut.strip("…").split()) <= set(text.split())


def test_accents_and_case_do_not_matter() -> None:
    text = "filler words here " * 60 + "Das ÜBER-Kapitel " + "and more filler " * 60
    assert "ÜBER-Kapitel" in snippet(text, ["uber"])


def test_without_a_match_it_is_the_beginning() -> None:
    assert snippet("begin " + "word " * 200, ["absent"]).startswith("begin")


@given(st.text(max_size=3_000), st.lists(st.text(max_size=8), max_size=5))
def test_it_is_never_longer_than_its_limit(text: str, terms: list[str]) -> None:
    assert len(snippet(text, terms)) <= SNIPPET_CHARS
