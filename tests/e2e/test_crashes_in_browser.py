"""What a person sees while parts of Pageturn die under an answer: nobody reloads the page."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fakes.browser import CHROMIUM, EXPECTED_COMPLAINTS, Visit, answers, ask, visiting
from tests.fakes.installation import Installation, running, wait_for
from tests.fakes.llm_script import calls
from tests.fakes.talk import Talk
from tests.fakes.told_model import ToldModel, new_question
from tests.fakes.wire import Wire

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]

# Of requests that found nobody: a browser writes it itself.
UNHEARD = re.compile(f"{EXPECTED_COMPLAINTS.pattern}|Failed to load resource")
RECOVERED_MS = 90_000  # some twelve seconds on an idle machine
TRIES = 3  # of a turn; then it has failed
WAITING = "Waiting for the answer to go on…"
CONNECTING = "Connecting again…"
# From now on, what the page says in alerts and in notices is kept, however short it stands there.
WATCH = """() => {
  window.said = { alerts: [], notices: [] };
  const look = () => {
    const note = (list, where) => {
      for (const found of document.querySelectorAll(where)) list.push(found.innerText);
    };
    note(said.alerts, "[role=alert]");
    note(said.notices, ".chat-notice, .thinking");
  };
  const whole = { subtree: true, childList: true, characterData: true };
  new MutationObserver(look).observe(document.body, whole);
}"""


@pytest.fixture(scope="module")
def fragile(told: ToldModel) -> Iterator[Installation]:
    """An installation as a person starts it, whose processes the tests kill."""
    with running(PAGETURN_PRIVATE_MODELS="true") as started:
        told.serve(started.sign_in())
        yield started


@pytest.fixture
def person(fragile: Installation) -> httpx2.Client:
    return fragile.sign_in()


@pytest.fixture
def visit(browser: Browser, fragile: Installation) -> Iterator[Visit]:
    with visiting(browser, fragile.url) as visit:
        yield lambda *args, **options: visit(*args, expected=UNHEARD, **options)


@pytest.fixture
def wire(fragile: Installation) -> Iterator[Wire]:
    with Wire(fragile.port) as wire:
        yield wire


def kill(installation: Installation, name: str) -> float:
    """SIGKILL, and when that was; the process is started again."""
    os.kill(installation.children()[name], signal.SIGKILL)
    return time.monotonic()


def said(page: Page) -> Locator:
    """The words of the newest answer."""
    return answers(page).last.locator(".prose p")


def expect_more(page: Page, words: int = 5) -> None:
    """So many words more than there are now."""
    now = len(said(page).inner_text().split()) if said(page).count() else 0
    more = re.compile(rf"^(\s*\w+){{{now + words},}}")
    expect(said(page)).to_have_text(more)


def in_mid_answer(page: Page, told: ToldModel, question: str, talk: Talk) -> None:
    """Ask, and see the beginning of an answer that goes on after a tool's call."""
    told.plays(question, calls(("listPages", {})), *[talk] * TRIES)
    ask(page, question)
    expect(answers(page).last.get_by_text("Listed pages")).to_be_visible()
    expect(said(page)).to_have_text(re.compile(r"^\s*\w+ \w+"))
    page.evaluate(WATCH)


def expect_whole(page: Page, talk: Talk, count: int = 1) -> None:
    """The newest of so many answers is all that was said in the last request, once."""
    whole = lambda: said(page).count() and said(page).inner_text() == talk.said[-1]  # noqa: E731
    wait_for(whole, RECOVERED_MS / 1000, "the whole answer")
    expect(page.get_by_role("button", name="Answer again").last).to_be_enabled()
    expect(said(page)).to_have_text(talk.said[-1])
    expect(answers(page)).to_have_count(count)
    expect(answers(page).last.locator(".tool")).to_have_count(1)
    expect(page.locator(".chat-notice, .thinking")).to_have_count(0)
    assert page.evaluate("window.said?.alerts ?? []") == []


def stored(person: httpx2.Client) -> list[tuple[str, str]]:
    """The newest chat's messages: the words of each and its status."""
    rows = person.get(f"/v1/ai/chats/{newest(person)}/messages").json()["items"]
    return [("".join(p.get("text", "") for p in r["parts"]).strip(), r["status"]) for r in rows]


def newest(person: httpx2.Client) -> str:
    return str(person.get("/v1/ai/chats").json()["items"][0]["id"])


def expect_next_answer(page: Page, told: ToldModel, count: int = 2) -> None:
    """The chat is as good as before."""
    question, talk = new_question("And then?"), Talk(words=5)
    told.plays(question, talk)
    ask(page, question)
    told.server.wait(lambda: talk.said, RECOVERED_MS / 1000)
    expect(answers(page)).to_have_count(count)
    expect(said(page)).to_have_text(talk.said[-1])
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.req("CH-12", "ST-07")
@pytest.mark.parametrize(
    ("process", "notice"),
    [("worker-chat", WAITING), ("api", CONNECTING), ("valkey", ""), ("postgres", "")],
)
def test_an_answer_comes_whole_to_an_open_page_though_a_process_is_killed_under_it(
    fragile: Installation,
    visit: Visit,
    person: httpx2.Client,
    told: ToldModel,
    process: str,
    notice: str,
    record_property: Callable[[str, object], None],
) -> None:
    question, talk, page = new_question(), Talk(words=60), visit(person)
    in_mid_answer(page, told, question, talk)
    killed = kill(fragile, process)
    expect_whole(page, talk)
    seen = time.monotonic()
    assert notice in "\n".join(page.evaluate("said.notices"))
    assert stored(person) == [(question, "complete"), (talk.said[-1], "complete")]
    expect_next_answer(page, told)
    *_, last = told.asked(question)
    told.server.wait(lambda: last.ended)
    spoken = last.ended - max(killed, last.arrived)
    record_property("recovery_seconds", round(seen - killed - spoken, 1))


def test_a_question_and_a_chat_that_find_no_api_come_through_when_that_is_there_again(
    fragile: Installation, visit: Visit, person: httpx2.Client, told: ToldModel
) -> None:
    page, late = visit(person), visit(person)
    page.locator(".chat-toggle").click()
    page.locator(".prompt-box").wait_for()
    late.locator(".chat-toggle").wait_for()
    page.evaluate(WATCH)
    question, talk = new_question(), Talk(words=5)
    told.plays(question, talk)
    kill(fragile, "api")
    ask(page, question)
    late.locator(".chat-toggle").click()  # whose code is loaded only now
    told.server.wait(lambda: talk.said, RECOVERED_MS / 1000)
    expect(said(page)).to_have_text(talk.said[-1])
    expect(answers(page)).to_have_count(1)
    expect(late.locator(".prompt-box")).to_be_visible()
    assert page.evaluate("said.alerts") == []
    assert stored(person) == [(question, "complete"), (talk.said[-1], "complete")]


@pytest.mark.req("ST-07")
def test_a_turn_whose_worker_was_killed_three_times_keeps_its_words_says_why_and_can_be_retried(
    fragile: Installation, visit: Visit, person: httpx2.Client, told: ToldModel
) -> None:
    question, talk, page = new_question(), Talk(words=3_000), visit(person)
    in_mid_answer(page, told, question, talk)
    for attempt in range(1, TRIES + 1):
        wait_for(lambda n=attempt: len(talk.said) == n, RECOVERED_MS / 1000, "an attempt")
        beginning = " ".join(talk.said[-1].split()[:5])
        expect(said(page)).to_contain_text(beginning)
        kill(fragile, "worker-chat")
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("never finished", timeout=RECOVERED_MS)
    expect(said(page)).to_contain_text(beginning)
    (_, status), (words, answer) = stored(person)
    assert (status, answer) == ("complete", "error")
    assert talk.said[-1].startswith(words)
    expect(said(page)).to_have_text(words)
    page.reload()
    expect(failure).to_contain_text("never finished")
    expect(said(page)).to_have_text(words)
    again = Talk(words=5)
    told.plays(question, again)
    failure.get_by_role("button", name="Try again").click()
    told.server.wait(lambda: again.said, RECOVERED_MS / 1000)
    expect(said(page)).to_have_text(again.said[-1])
    expect(failure).to_have_count(0)
    expect_next_answer(page, told)


@pytest.mark.req("CH-12", "ST-04")
def test_two_devices_show_one_chat_live_and_stop_in_one_stops_both(
    visit: Visit, person: httpx2.Client, told: ToldModel
) -> None:
    question, talk, one = new_question(), Talk(words=3_000), visit(person)
    in_mid_answer(one, told, question, talk)
    other = visit(person, f"/chat/{newest(person)}")
    for page in (one, other, one, other):
        expect_more(page)
    one.get_by_role("button", name="Stop").click()
    pressed = time.monotonic()
    for page in (one, other):
        expect(answers(page)).to_contain_text("You stopped this answer.")
    assert time.monotonic() - pressed < 5  # one or two on an idle machine
    (_, _), (words, status) = stored(person)
    assert status == "aborted"
    assert talk.said[-1].startswith(words)
    for page in (one, other):
        expect(said(page)).to_have_text(words)
        expect(page.get_by_role("alert")).to_have_count(0)

    question, talk = new_question("And then?"), Talk(words=80)
    in_mid_answer(other, told, question, talk)
    expect(one.get_by_role("article", name="You").last).to_have_text(question)
    expect_more(one)  # live, though it was asked elsewhere
    for page in (one, other):
        expect_whole(page, talk, count=2)
    expect_next_answer(one, told, count=3)


@pytest.mark.req("CH-12")
def test_a_reload_and_a_second_tab_in_mid_answer_end_with_the_same_whole_answer(
    visit: Visit, person: httpx2.Client, told: ToldModel, fragile: Installation
) -> None:
    question, talk, page = new_question(), Talk(words=60), visit(person)
    in_mid_answer(page, told, question, talk)
    page.reload()
    expect_more(page)
    tab = page.context.new_page()
    tab.goto(f"{fragile.url}/chat/{newest(person)}")
    for window in (page, tab):
        expect_whole(window, talk)
    assert stored(person) == [(question, "complete"), (talk.said[-1], "complete")]
    expect_next_answer(tab, told)


@pytest.mark.req("CH-12")
@pytest.mark.parametrize("returns", ["in mid-answer", "after the answer's end"])
def test_a_browser_that_was_offline_has_the_whole_answer_when_it_is_back(
    browser: Browser, wire: Wire, person: httpx2.Client, told: ToldModel, returns: str
) -> None:
    question, talk = new_question(), Talk(words=80)
    with visiting(browser, wire.url) as visit:
        page = visit(person, expected=UNHEARD)
        in_mid_answer(page, told, question, talk)
        page.context.set_offline(True)
        wire.cut()  # a browser that plays offline lets go of nothing that it has
        expect(page.get_by_text(CONNECTING)).to_be_visible()
        if returns == "after the answer's end":
            told.server.wait(lambda: told.asked(question)[-1].ended, RECOVERED_MS / 1000)
        wire.mend()
        page.context.set_offline(False)
        expect_whole(page, talk)
        assert stored(person) == [(question, "complete"), (talk.said[-1], "complete")]
        expect_next_answer(page, told)
