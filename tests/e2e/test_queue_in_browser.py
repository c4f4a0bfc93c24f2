"""Messages that wait for an answer, as a person sees them in a browser."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.fakes.browser import CHROMIUM, Visit, answers, ask
from tests.fakes.llm_script import DONE, Gate, finish, says, stream, text, usage
from tests.fakes.told_model import ToldModel, new_question, said

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]


def halves(first: str, gate: Gate, second: str) -> Any:
    return stream(text(first), gate, text(second), finish(), usage(), DONE)


def chips(page: Page) -> Locator:
    return page.get_by_role("region", name="Messages that wait").get_by_role("listitem")


def questions(page: Page) -> Locator:
    return page.get_by_role("article", name="You")


@pytest.fixture
def chat_off(owner: httpx2.Client) -> Iterator[Any]:
    """Switches the chat of the workspace off and on; in the end it is on."""

    def switch(*, off: bool) -> None:
        changed = owner.patch("/v1/workspace/ai-settings", json={"chat": not off})
        assert changed.status_code == 200, changed.text

    yield switch
    switch(off=False)


@pytest.mark.req("ST-11")
def test_a_message_typed_during_an_answer_waits_and_is_sent_when_the_answer_has_ended(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    first, second, third = new_question(), new_question("And then?"), new_question("Never?")
    one, two = Gate(), Gate()
    told.plays(first, halves("The first,", one, " whole."))
    told.plays(second, halves("The second,", two, " whole."))
    page = visit(owner)
    ask(page, first)
    expect(answers(page)).to_contain_text("The first,")
    ask(page, second)
    ask(page, third)
    expect(chips(page)).to_have_count(2)
    expect(chips(page).first).to_contain_text(second)
    expect(page.locator(".prompt-box textarea")).to_have_value("")
    expect(questions(page)).to_have_count(1)

    page.reload()
    expect(chips(page)).to_have_count(2)
    page.get_by_role("link", name="Open as a page").click()
    page.wait_for_url("**/chat/*")
    other = visit(owner, page.url.removeprefix(page.url.split("/chat/")[0]))
    expect(chips(other)).to_have_count(2)
    chips(other).last.get_by_role("button", name="Remove this message").click()
    expect(chips(other)).to_have_count(1)
    expect(chips(page)).to_have_count(1)  # once it has looked again

    one.open()
    for window in (page, other):
        expect(questions(window).last).to_have_text(second)
        expect(answers(window).first).to_contain_text("The first, whole.")
        expect(answers(window).last).to_contain_text("The second,")
        expect(chips(window)).to_have_count(0)
    two.open()
    for window in (page, other):
        expect(answers(window).last).to_contain_text("The second, whole.")
        expect(answers(window)).to_have_count(2)
        expect(questions(window)).to_have_count(2)
    assert told.asked(third) == []


@pytest.mark.req("ST-11")
def test_send_now_interrupts_the_answer_and_the_model_is_told(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    first, second, third = new_question(), new_question("The other."), new_question("Later?")
    told.plays(first, stream(text("Half of it"), Gate()))
    told.plays(second, says("The other one."))
    told.plays(third, says("And later."))
    page = visit(owner)
    ask(page, first)
    expect(answers(page)).to_contain_text("Half of it")
    ask(page, third)
    ask(page, second)
    expect(chips(page)).to_have_count(2)
    chips(page).last.get_by_role("button", name="Send now").click()
    expect(answers(page).first).to_contain_text("You interrupted this answer")
    expect(answers(page).first).to_contain_text("Half of it")
    expect(answers(page).nth(1)).to_contain_text("The other one.")
    expect(answers(page).nth(2)).to_contain_text("And later.")
    expect(questions(page)).to_have_text([first, second, third])
    expect(chips(page)).to_have_count(0)
    (request,) = (r for r in told.server.chats if said(r)[-1].endswith(second))
    note, _, words = said(request)[-1].rpartition("\n\n")
    assert words == second
    assert "interrupted" in note
    listed = owner.get("/v1/ai/chats").json()["items"][0]["id"]
    rows = owner.get(f"/v1/ai/chats/{listed}/messages").json()["items"]
    assert [row["status"] for row in rows[1::2]] == ["aborted", "complete", "complete"]
    page.reload()
    expect(answers(page).first).to_contain_text("You interrupted this answer")


def test_after_a_stop_what_waits_waits_for_its_person(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    first, second, third = new_question(), new_question("And then?"), new_question("Rather:")
    told.plays(first, stream(text("Half of it"), Gate()))
    told.plays(second, says("The second."))
    told.plays(third, says("The third."))
    page = visit(owner)
    ask(page, first)
    expect(answers(page)).to_contain_text("Half of it")
    ask(page, second)
    expect(chips(page)).to_have_count(1)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(answers(page)).to_contain_text("You stopped this answer.")
    waiting = page.get_by_role("region", name="Messages that wait")
    expect(waiting).to_contain_text("these wait until you send them")
    page.reload()
    expect(waiting).to_contain_text("these wait until you send them")
    ask(page, third)  # what is asked now goes first
    expect(answers(page).nth(1)).to_contain_text("The third.")
    expect(answers(page).nth(2)).to_contain_text("The second.")
    expect(questions(page)).to_have_text([first, third, second])
    expect(chips(page)).to_have_count(0)


def test_a_message_that_is_refused_says_why_and_can_be_sent_again(
    visit: Visit, owner: httpx2.Client, told: ToldModel, chat_off: Any
) -> None:
    first, second, gate = new_question(), new_question("And then?"), Gate()
    told.plays(first, halves("The first,", gate, " whole."))
    told.plays(second, says("The second."))
    page = visit(owner)
    ask(page, first)
    expect(answers(page)).to_contain_text("The first,")
    ask(page, second)
    expect(chips(page)).to_have_count(1)
    chat_off(off=True)
    gate.open()
    expect(chips(page)).to_contain_text("Chat is switched off in this workspace")
    chat_off(off=False)
    chips(page).get_by_role("button", name="Try again").click()
    expect(answers(page).last).to_contain_text("The second.")
    expect(questions(page)).to_have_text([first, second])
    expect(chips(page)).to_have_count(0)
