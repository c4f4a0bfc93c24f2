"""The AI settings, and what is said where they are wrong, as people see it in a browser."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Response, expect

from tests.fakes.browser import CHROMIUM, Visit, answers, ask
from tests.fakes.llm_script import error, says
from tests.fakes.told_model import KEY, MODEL, TEST_QUESTION, ToldModel, new_question

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]

SETTINGS = "/settings/ai"


@pytest.fixture(autouse=True)
def as_before(owner: httpx2.Client, told: ToldModel) -> Iterator[None]:
    yield
    told.serve(owner, showModelSelector=False)


def configure(owner: httpx2.Client, **settings: object) -> None:
    answer = owner.patch("/v1/workspace/ai-settings", json=settings)
    assert answer.status_code == 200, answer.text


@pytest.mark.req("PV-01")
def test_a_key_is_entered_tested_and_saved_and_never_comes_back(
    visit: Visit, owner: httpx2.Client, told: ToldModel
) -> None:
    configure(owner, driver="offline", baseUrl="", apiKey="")
    told.plays(TEST_QUESTION, says("ready"))
    page = visit(owner, SETTINGS)
    bodies: list[str] = []
    page.on("response", lambda response: bodies.append(body_of(response)))
    page.get_by_label("Provider").first.select_option("openai-compatible")
    page.get_by_label("Base URL").fill(told.server.url)
    page.get_by_label("API key").fill(KEY)
    page.get_by_label(re.compile("^Model")).first.fill(MODEL)
    page.get_by_role("button", name="Test the connection").first.click()
    expect(page.get_by_text("The connection works")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The settings were saved")).to_be_visible()
    page.reload()
    field = page.get_by_label("API key")
    expect(field).to_have_attribute("placeholder", "A key is set; leave this empty to keep it")
    expect(field).to_have_value("")
    assert any('"apiKeyState":"set"' in body for body in bodies)
    assert KEY not in page.content()
    assert not any(KEY in body for body in bodies)

    page.get_by_label("Base URL").fill(told.server.url.replace("127.0.0.1", "localhost"))
    expect(field).to_have_attribute("placeholder", "Enter the key again")
    expect(page.get_by_text("This is another server than the one")).to_be_visible()


def body_of(response: Response) -> str:
    streamed = "event-stream" in response.headers.get("content-type", "")
    return "" if streamed or response.status in (204, 304) else response.text()


@pytest.mark.req("PV-13")
def test_an_unfinished_set_up_shows_admins_the_way_and_members_whom_to_ask(
    visit: Visit, owner: httpx2.Client, reader: httpx2.Client
) -> None:
    configure(owner, driver="openai", chatModel="gpt-stub")
    page = visit(owner, "/chat")
    card = page.get_by_role("region", name="The agent is not set up yet")
    expect(card).to_contain_text("Still missing: the API key.")
    card.get_by_role("link").click()
    page.wait_for_url(f"**{SETTINGS}")
    expect(page.get_by_text("The chat cannot answer yet")).to_be_visible()

    hers = visit(reader, "/chat").get_by_role("region", name="The agent is not set up yet")
    expect(hers).to_contain_text("Ask an admin of your workspace")
    expect(hers.get_by_role("link")).to_have_count(0)


def test_a_refused_key_shows_admins_the_way_to_mend_it_and_members_whom_to_ask(
    visit: Visit, owner: httpx2.Client, reader: httpx2.Client, told: ToldModel
) -> None:
    question = new_question()
    told.plays(question, *[error(401, f"Incorrect API key provided: {KEY}")] * 2)
    page, hers = visit(owner), visit(reader)
    for asking in (page, hers):
        ask(asking, question)
        alert = asking.get_by_role("alert")
        expect(alert).to_contain_text("The model's provider did not accept the key")
        expect(alert).to_contain_text("(401)")
        assert KEY not in asking.content()
    expect(hers.get_by_role("alert")).to_contain_text("An administrator of the workspace can help")
    expect(hers.get_by_role("link", name="Open the AI settings")).to_have_count(0)
    page.get_by_role("alert").get_by_role("link", name="Open the AI settings").click()
    page.wait_for_url(f"**{SETTINGS}")


def test_a_member_finds_no_settings(visit: Visit, reader: httpx2.Client) -> None:
    page = visit(reader, SETTINGS)
    expect(page.get_by_text("These settings are for owners and admins")).to_be_visible()
    expect(page.get_by_label("API key")).to_have_count(0)


@pytest.mark.req("PV-10")
def test_a_chosen_model_answers_and_stays_chosen(
    visit: Visit, owner: httpx2.Client, reader: httpx2.Client, told: ToldModel
) -> None:
    other = {"driver": "openai-compatible", "model": "stub-large", "allowed": True}
    assert owner.put("/v1/workspace/ai-models", json=other).status_code == 200
    page = visit(reader, "/chat")
    expect(page.get_by_label("Message")).to_be_visible()
    expect(page.get_by_label("Model")).to_have_count(0)
    configure(owner, showModelSelector=True)
    offered = reader.get("/v1/ai/models").json()["items"]
    assert [item["model"] for item in offered] == [MODEL, "stub-large"]
    first, second = new_question(), new_question()
    told.plays(first, says("From the large one."))
    told.plays(second, says("From it again."))
    page.reload()
    choice = page.get_by_label("Model")
    expect(choice.locator("option")).to_have_text([f"{MODEL} (default)", "stub-large"])
    choice.select_option("stub-large")
    ask(page, first)
    expect(answers(page)).to_contain_text("From the large one.")
    page.reload()
    expect(page.get_by_label("Model")).to_have_value("stub-large")
    ask(page, second)
    expect(answers(page).last).to_contain_text("From it again.")
    models = [request.body["model"] for request in (*told.asked(first), *told.asked(second))]
    assert set(models) == {"stub-large"}
    expect(answers(page).last.get_by_role("button", name="stub-large")).to_be_visible()
    unlisted = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "?"}]}]}
    refused = reader.post("/v1/ai/chat/tenant", json=unlisted | {"model": "stub-huge"})
    assert (refused.status_code, refused.json()["error"]) == (400, "unknown_model")
