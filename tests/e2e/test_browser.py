"""The web app in a real browser: sign in, ask, follow a citation, reload in mid-answer, stop."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fakes.browser import CHROMIUM, ask, watched
from tests.fakes.installation import EMAIL, PASSWORD, Installation, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]


@pytest.fixture(scope="module")
def slow_installation() -> Iterator[Installation]:
    """Its answers take long enough to reload in the middle of one."""
    with running(PAGETURN_OFFLINE_PIECE_SECONDS="0.2") as started:
        yield started


@pytest.fixture
def page(browser: Browser, slow_installation: Installation) -> Iterator[Page]:
    """A page signed in as a person signs in."""
    with watched(browser) as page:
        page.goto(slow_installation.url)
        page.locator("input[type=email]").fill(EMAIL)
        page.locator("input[type=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Good to see you")).to_be_visible()
        yield page


def quotation(page: Page) -> Locator:
    """Where an answer begins on the page; a copy for screen readers does not count."""
    return page.locator("p", has_text="I am quoting your pages")


def test_a_question_is_answered_and_its_citation_opens_the_passage(page: Page) -> None:
    ask(page, "What can a writer of a space do?")
    expect(page.get_by_text("Searched pages")).to_be_visible()
    expect(page.get_by_text("I am quoting your pages")).to_be_visible()
    expect(page.get_by_text("Sources")).to_be_visible()
    page.locator('a[href*="/s/getting-started/p/"][href*="#"]').first.click()
    page.wait_for_url(re.compile(r"/s/getting-started/p/.+#\w+"))
    block = page.url.split("#")[1]
    expect(page.locator(f'[id="{block}"]')).to_be_in_viewport()


def test_a_reload_in_mid_answer_shows_one_whole_answer(page: Page) -> None:
    ask(page, "How do I import a folder of Markdown files?")
    expect(page.get_by_text("I am quoting your pages")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Sources")).to_be_visible(timeout=40_000)
    expect(quotation(page)).to_have_count(1)


def test_stop_keeps_what_was_said(page: Page) -> None:
    ask(page, "How does the agent cite what it relies on?")
    expect(page.get_by_text("I am quoting your pages")).to_be_visible()
    page.get_by_role("button", name="Stop").first.click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(quotation(page)).to_have_count(1)
    expect(page.get_by_text("Sources")).to_have_count(0)
