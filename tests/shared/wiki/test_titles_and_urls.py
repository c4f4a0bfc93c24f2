import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.wiki.errors import InvalidTitleError
from shared.wiki.titles import clean_title
from shared.wiki.urls import new_slug_id, page_url, resolve_slug, slugify


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Annual leave", "annual-leave"),
        ("  --Hello,   World!--  ", "hello-world"),
        ("Отпуск и ёлка", "отпуск-и-ёлка"),
        ("会議の記録", "会議の記録"),
        ("Ｆｕｌｌ", "full"),
        ("😀🎉", ""),
        ("a/b?c#d%e", "a-b-c-d-e"),
        ("x" * 100, "x" * 60),
        ("y" * 59 + " z", "y" * 59),
    ],
)
def test_the_readable_part_of_an_address(title: str, slug: str) -> None:
    assert slugify(title) == slug


def test_an_address_names_space_page_and_block() -> None:
    assert page_url("wiki", "Leave", "abc123def0") == "/s/wiki/p/leave-abc123def0"
    assert page_url("wiki", "😀", "abc123def0", "b1") == "/s/wiki/p/abc123def0#b1"


@given(st.text(max_size=300))
def test_the_page_is_found_by_its_address_whatever_its_title(title: str) -> None:
    slug_id = new_slug_id()
    url = page_url("wiki", title, slug_id)
    name = url.removeprefix("/s/wiki/p/")
    assert not set(name) & set("/?#% \n")
    assert resolve_slug(name) == slug_id


@pytest.mark.parametrize("name", ["", "leave", "leave-", "leave-ABC123DEF0", "leave-abc123def0-x"])
def test_an_address_without_a_slug_id_leads_nowhere(name: str) -> None:
    assert resolve_slug(name) is None


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_a_title_is_clean_or_refused(title: str) -> None:
    try:
        cleaned = clean_title(title)
    except InvalidTitleError:
        return
    assert 1 <= len(cleaned) <= 255
    assert clean_title(cleaned) == cleaned
    cleaned.encode()
    assert "\0" not in cleaned
