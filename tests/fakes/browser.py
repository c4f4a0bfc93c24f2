"""Chromium for the tests: signed-in pages whose complaints fail the test."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import httpx2
from playwright.sync_api import Browser, Locator, Page, expect

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A schema library tries `new Function` once and lives without it; the policy says no.
EXPECTED_COMPLAINTS = re.compile(r"unsafe-eval|401 \(Unauthorized\)")
WAIT_MS = 20_000
expect.set_options(timeout=WAIT_MS)
DESKTOP = {"width": 1400, "height": 900}


class Visit(Protocol):
    """Opens a path as the person of a client; more options go to the browser's context."""

    def __call__(self, person: httpx2.Client, path: str = "/", **options: Any) -> Page: ...


@contextmanager
def watched(
    browser: Browser, *, expected: re.Pattern[str] = EXPECTED_COMPLAINTS, **options: Any
) -> Iterator[Page]:
    """A page of a browser of its own. What it writes to its console as an error, what nobody
    catches and what asks in a dialog of the browser's fails the test, unless it is expected."""
    context = browser.new_context(**{"viewport": DESKTOP, "locale": "en-US"} | options)
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    complaints: list[str] = []

    def complain(text: str) -> None:
        if not expected.search(text):
            complaints.append(text)

    page.on("console", lambda m: complain(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complain(str(error)))
    page.on("dialog", lambda dialog: (complain(f"asked: {dialog.message}"), dialog.dismiss()))
    yield page
    context.close()
    assert complaints == []


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[Visit]:
    """Gives a `Visit` to the Pageturn at this url."""
    with ExitStack() as stack:

        def visit(person: httpx2.Client, path: str = "/", **options: Any) -> Page:
            page = stack.enter_context(watched(browser, **options))
            token = person.headers["authorization"].removeprefix("Bearer ")
            page.context.add_cookies([{"name": "pageturn_session", "value": token, "url": url}])
            page.goto(url + path)
            return page

        yield visit


def ask(page: Page, question: str) -> None:
    """Ask in the open chat; opens it beside the page where it is not open."""
    page.locator(".chat-toggle, .app-chat").first.wait_for()
    closed = page.locator('.chat-toggle[aria-expanded="false"]')
    if closed.count():
        closed.click()
    box = page.locator(".prompt-box textarea")
    box.fill(question)
    box.press("Enter")


def answers(page: Page) -> Locator:
    """The answers in the conversation; the copy for screen readers does not count."""
    return page.get_by_role("article", name="Agent")
