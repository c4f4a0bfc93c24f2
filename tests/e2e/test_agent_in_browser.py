"""The agent at work, as a person sees it in a browser: with a model that says what it is told."""

import re
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import expect

from tests.fakes.browser import CHROMIUM, Visit, answers, ask
from tests.fakes.installation import make_page
from tests.fakes.llm_script import (
    DONE,
    Gate,
    Reply,
    calls,
    finish,
    reasoning,
    says,
    stream,
    text,
    usage,
)
from tests.fakes.told_model import ToldModel, new_question

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]

Json = dict[str, Any]


@pytest.fixture
def wiki_page(owner: httpx2.Client) -> Json:
    """A page that says how much leave there is."""
    markdown = "# Carrying over\n\nUp to 200 hours of leave carry over.\n\nAsk early."
    return make_page(owner, f"Leave {uuid4().hex[:6]}", markdown)


def block_saying(page: Json, words: str) -> str:
    """The id of the page's block that says this."""
    return next(str(b["attrs"]["id"]) for b in page["content"]["content"] if words in str(b))


def edit_of(page: Json) -> Reply:
    edits = [{"find": "200 hours", "replace": "240 hours"}]
    return calls(("editPageText", {"pageId": page["id"], "edits": edits}))


@pytest.mark.req("RG-16", "PN-06")
def test_an_agents_edit_is_on_the_page_and_in_its_history_with_the_person_who_asked(
    visit: Visit, owner: httpx2.Client, reader: httpx2.Client, told: ToldModel, wiki_page: Json
) -> None:
    question = new_question("Make it 240 hours.")
    told.plays(question, edit_of(wiki_page), says(f"[It says so]({wiki_page['url']}) now."))
    page = visit(owner, wiki_page["url"])
    expect(page.locator("main")).to_contain_text("Up to 200 hours")
    ask(page, question)
    expect(answers(page)).to_contain_text("It says so now.")
    expect(page.locator("main")).to_contain_text("Up to 240 hours")
    expect(page.get_by_role("dialog")).to_have_count(0)
    card = page.locator(".tool", has_text="Edited a page")
    card.locator("summary").click()
    expect(card.locator("del")).to_have_text("200 hours")
    expect(card.locator("ins")).to_have_text("240 hours")
    expect(card.get_by_label("Arguments")).to_contain_text(wiki_page["id"])
    expect(card.get_by_label("Result")).to_contain_text('"changed": true')

    page.get_by_role("link", name=f"History of {wiki_page['title']}").click()
    newest = page.locator(".version-item").first
    expect(newest.locator(".version-name")).to_have_text("owner")
    badge = newest.get_by_role("link", name="AI agent")
    badge.hover()
    expect(page.get_by_role("tooltip")).to_have_text("owner asked the agent")
    expect(page.locator(".version-item").last.get_by_text("AI agent")).to_have_count(0)
    badge.click()
    page.wait_for_url(re.compile(r"/chat/[\w-]+$"))
    expect(page.get_by_role("article", name="You")).to_have_text(question)

    hers = visit(reader, f"{wiki_page['url']}/history").locator(".version-item").first
    expect(hers.locator(".version-name")).to_have_text("owner")
    expect(hers.get_by_text("AI agent")).to_be_visible()
    expect(hers.get_by_role("link", name="AI agent")).to_have_count(0)


@pytest.mark.req("LP-07")
def test_a_page_is_created_before_the_answer_ends_and_nobody_is_asked(
    visit: Visit, owner: httpx2.Client, told: ToldModel, wiki_page: Json
) -> None:
    question, gate = new_question("Write it down."), Gate()
    title = f"Written down {uuid4().hex[:6]}"
    told.plays(
        question,
        calls(("createPage", {"spaceId": wiki_page["spaceId"], "title": title, "content": "So."})),
        stream(text("It is"), gate, text(" written."), finish(), usage(), DONE),
    )
    page = visit(owner, wiki_page["url"])
    ask(page, question)
    expect(answers(page)).to_contain_text("It is")
    expect(answers(page).get_by_text("Created a page")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    found = owner.get("/v1/search", params={"q": title}).json()["items"]
    assert title in [item["title"] for item in found]
    gate.open()
    expect(answers(page)).to_contain_text("It is written.")
    answers(page).get_by_role("region", name="Pages that this answer wrote").get_by_role(
        "link", name=title, exact=True
    ).click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_calls_are_cards_and_a_citation_opens_the_page_at_its_block(
    visit: Visit, owner: httpx2.Client, told: ToldModel, wiki_page: Json
) -> None:
    question = new_question()
    cited = block_saying(wiki_page, "200 hours")
    told.plays(
        question,
        calls(("searchPages", {"query": "leave"}), ("getPage", {"pageId": wiki_page["id"]})),
        says(f"[200 hours]({wiki_page['url']}#{cited})."),
    )
    page = visit(owner)
    ask(page, question)
    expect(page.get_by_text("Searched pages")).to_be_visible()
    card = page.locator(".tool", has_text="Read a page")
    card.locator("summary").click()
    expect(card.get_by_label("Arguments")).to_contain_text(wiki_page["id"])
    expect(card.get_by_label("Result")).to_contain_text("Up to 200 hours")
    page.get_by_role("region", name="Sources").get_by_role("link").click()
    page.wait_for_url(f"**{wiki_page['url']}#{cited}")
    block = page.locator(f'[id="{cited}"]')
    expect(block).to_be_in_viewport()
    expect(block).to_have_class(re.compile("block-target"))
    expect(answers(page)).to_be_visible()


def test_a_reload_in_mid_answer_goes_on_with_the_same_answer(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    question, gate = new_question(), Gate()
    told.plays(
        question,
        calls(("listPages", {})),
        stream(text("First half,"), gate, text(" second half."), finish(), usage(), DONE),
    )
    page = visit(owner)
    ask(page, question)
    expect(answers(page)).to_contain_text("First half,")
    page.reload()
    expect(answers(page)).to_contain_text("First half,")
    gate.open()
    expect(answers(page).locator("p", has_text="half")).to_have_text("First half, second half.")
    expect(page.get_by_role("button", name="Answer again")).to_be_enabled()
    expect(answers(page)).to_have_count(1)
    expect(answers(page).locator(".tool")).to_have_count(1)


def test_stop_keeps_what_was_said_and_says_so(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    question = new_question()
    told.plays(question, stream(text("Half of it"), Gate()))
    page = visit(owner)
    ask(page, question)
    expect(answers(page)).to_contain_text("Half of it")
    page.get_by_role("button", name="Stop").click()
    expect(answers(page)).to_contain_text("You stopped this answer.")
    page.reload()
    expect(answers(page)).to_contain_text("Half of it")
    expect(answers(page)).to_contain_text("You stopped this answer.")


def test_versions_after_another_answer_and_after_an_edited_question(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    question, other = new_question(), new_question("And how much sick leave?")
    told.plays(question, says("First."), says("Second."))
    told.plays(other, says("Third."))
    page = visit(owner)
    ask(page, question)
    expect(answers(page)).to_contain_text("First.")
    page.get_by_role("button", name="Answer again").click()
    expect(answers(page)).to_contain_text("Second.")
    expect(answers(page).get_by_role("group", name="Version 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Previous version").click()
    expect(answers(page)).to_contain_text("First.")

    mine = page.get_by_role("article", name="You")
    mine.hover()
    mine.get_by_role("button", name="Edit the message").click()
    page.get_by_label("Your message in other words").fill(other)
    mine.get_by_role("button", name="Send").click()
    expect(answers(page)).to_contain_text("Third.")
    expect(mine.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Previous version").click()
    expect(mine).to_contain_text(question)
    # Of the question's two answers the newest.
    expect(answers(page)).to_contain_text("Second.")
    page.reload()
    expect(answers(page)).to_contain_text("Second.")
    expect(answers(page)).to_have_count(1)


def test_thoughts_are_folded_and_open(visit: Visit, owner: httpx2.Client, told: ToldModel) -> None:
    question = new_question()
    told.plays(
        question,
        stream(reasoning("Is it in the handbook?"), text("It is."), finish(), usage(), DONE),
    )
    page = visit(owner)
    ask(page, question)
    expect(answers(page)).to_contain_text("It is.")
    thought = answers(page).get_by_text("Is it in the handbook?")
    expect(thought).to_be_hidden()
    answers(page).get_by_text("Thoughts").click()
    expect(thought).to_be_visible()


def test_an_answer_at_its_limit_goes_on(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    question = new_question()
    looks = [calls(("listPages", {"limit": 1}))] * 8
    told.plays(question, *looks, says("So far."), says("And the rest."))
    page = visit(owner)
    ask(page, question)
    expect(answers(page)).to_contain_text("The answer reached its limit.")
    page.get_by_role("button", name="Continue").click()
    expect(answers(page).last).to_contain_text("And the rest.")
    expect(answers(page)).to_have_count(2)
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    page.reload()
    expect(answers(page).first).to_contain_text("So far.")
    expect(answers(page).last).to_contain_text("And the rest.")
