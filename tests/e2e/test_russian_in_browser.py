"""The interface in Russian: no word of another language is left in it, and no raw key."""

import re

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.fakes.browser import CHROMIUM, Visit, ask
from tests.fakes.installation import Installation, make_page
from tests.fakes.llm_script import (
    DONE,
    calls,
    error,
    finish,
    reasoning,
    says,
    stream,
    text,
    usage,
)
from tests.fakes.told_model import TEST_QUESTION, ToldModel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]

# What can be read or heard on the screen, without what people, models and servers wrote.
SHOWN = """() => {
  const found = [];
  const written =
    "pre, code, option, input, textarea, [lang], .tool-failed, .failure-detail, .test-words";
  const see = (element, text) => element.checkVisibility() && found.push(text);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (!parentElement.closest(written)) see(parentElement, textContent);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"])
    for (const element of document.querySelectorAll(`[${name}]:not([aria-hidden=true])`))
      see(element, element.getAttribute(name));
  return found;
}"""
NAMES = re.compile(
    r"https?://\S*|\b(?:Pageturn|AI|API|URL|MCP|Model Context Protocol|Markdown|OpenAI|Anthropic"
    r"|Google Gemini|Ollama|Enter|Shift|Ctrl K|EN|RU|General|Getting started|A title|owner"
    r"|(?:stub|gpt|o\d|claude|gemini)[\w.-]*)\b"
)
LATIN = re.compile(r"[A-Za-z]{2,}")


def left_over(page: Page) -> set[str]:
    """Texts on the screen in which something stands in Latin letters: other words, raw keys."""
    return {shown for shown in page.evaluate(SHOWN) if LATIN.search(NAMES.sub("", shown))}


@pytest.fixture(scope="module")
def ivan(agent: Installation, owner: httpx2.Client) -> httpx2.Client:
    """A writer of a space in which everything is in Russian."""
    made = owner.post("/v1/spaces", json={"name": "Отдел", "slug": "otdel"})
    assert made.status_code == 201, made.text
    return agent.add_person("ivan@example.org", "Иван", "Отдел:writer")


def test_a_chat_and_what_it_did_to_a_page(
    visit: Visit, ivan: httpx2.Client, told: ToldModel
) -> None:
    wiki_page = make_page(ivan, "Отпуск", "До 200 часов.", space="Отдел")
    question, other = "Сделай 240 часов", "А потом?"
    edits = [{"find": "200", "replace": "240"}, {"find": "нигде", "replace": "там"}]
    answer = text(f"[Готово]({wiki_page['url']}).")
    told.plays(
        question,
        calls(
            ("editPageText", {"pageId": wiki_page["id"], "edits": edits}),
            ("searchPages", {"query": "отпуск"}),
        ),
        stream(reasoning("Так."), answer, finish(), usage(), DONE),
    )
    told.plays(other, error(401, "wrong key"))
    page = visit(ivan, locale="ru-RU")
    expect(page.get_by_role("heading", name="Здравствуйте")).to_be_visible()
    assert left_over(page) == set()
    page.goto(page.url.rstrip("/") + wiki_page["url"])
    ask(page, question)
    expect(page.get_by_role("region", name="Источники")).to_be_visible()
    for folded in page.locator(".tool summary, .reasoning summary").all():
        folded.click()
    assert left_over(page) == set()
    ask(page, other)
    expect(page.get_by_role("alert")).to_contain_text("401")
    assert left_over(page) == set()

    page.get_by_role("link", name="История").first.click()
    expect(page.get_by_role("link", name="ИИ-агент")).to_be_visible()
    page.get_by_text("Изменения", exact=True).click()
    expect(page.locator("main")).to_contain_text("240 часов")
    assert left_over(page) == set()


def test_the_settings(visit: Visit, owner: httpx2.Client, told: ToldModel) -> None:
    default_prompt = owner.get("/v1/workspace/ai-settings").json()["defaultSystemPrompt"]
    told.plays(TEST_QUESTION, says("ready"))
    page = visit(owner, "/settings/ai", locale="ru-RU")
    page.get_by_role("button", name="Проверить").first.click()
    expect(page.get_by_text("Соединение работает")).to_be_visible()
    page.get_by_label("Базовый URL").fill("")
    expect(page.get_by_role("button", name="Сохранить")).to_be_visible()
    assert left_over(page) - {default_prompt} == set()
    page.context.clear_cookies()
    page.reload()
    expect(page.get_by_role("heading", name="Вход")).to_be_visible()
    assert left_over(page) == set()
