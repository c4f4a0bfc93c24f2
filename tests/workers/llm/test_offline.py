"""The offline answerer: it searches, reads, quotes, and says that it does."""

from typing import Any

import orjson
import pytest

from workers.llm.base import (
    AssistantMessage,
    CallArguments,
    CallStart,
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextPiece,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from workers.llm.offline import OfflineModel
from workers.llm.quoting import PageText, choose_quotes, is_russian, terms

TOOLS = (ToolSpec("searchPages", "", {}), ToolSpec("getPage", "", {}))
PAGE = {
    "pageId": "p1",
    "title": "Leave [draft]",
    "url": "/s/hr/p/leave-1",
    "markdown": "[#aaa]\n# Leave\n\n[#bbb]\nThe office has plants. They are green.\n\n"
    "[#ccc]\nAsk **your supervisor** for leave two weeks ahead. Bring [the form](/form).\n",
}
HITS = {"hits": [{"pageId": "p1", "title": "Leave", "url": "/s/hr/p/leave-1#ccc"}]}


async def answer(*messages: ModelMessage, tools: tuple[ToolSpec, ...] = TOOLS) -> list[ModelEvent]:
    model = OfflineModel(piece_seconds=0)
    request = ModelRequest(model="offline", system="", messages=messages, tools=tools)
    return [event async for event in model.stream(request)]


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPiece))


def used(name: str, output: dict[str, Any]) -> list[ModelMessage]:
    return [
        AssistantMessage("", (ToolRequest("c", name, "{}"),)),
        ToolMessage("c", name, orjson.dumps(output).decode()),
    ]


async def test_it_searches_first_and_then_reads_what_it_found() -> None:
    question = UserMessage("How do I request leave?")
    first = await answer(question)
    assert [e.name for e in first if isinstance(e, CallStart)] == ["searchPages"]
    assert first[-1] == Finished("tool-calls")
    then = await answer(question, *used("searchPages", HITS))
    assert [e.name for e in then if isinstance(e, CallStart)] == ["getPage"]
    arguments = next(e.text for e in then if isinstance(e, CallArguments))
    assert orjson.loads(arguments) == {"pageId": "p1", "blockIds": True}


async def test_it_says_that_it_quotes_and_links_each_quotation_to_its_block() -> None:
    question = UserMessage("How do I request leave?")
    said = text(await answer(question, *used("searchPages", HITS), *used("getPage", PAGE)))
    assert said.startswith("I am quoting your pages, not writing")
    assert "> Ask your supervisor for leave two weeks ahead." in said
    assert "[Leave (draft)](/s/hr/p/leave-1#ccc)" in said


async def test_no_match_is_said_in_the_language_of_the_question() -> None:
    nothing = used("searchPages", {"hits": []})
    assert "found no page" in text(await answer(UserMessage("Zebra?"), *nothing))
    assert "не нашёл" in text(await answer(UserMessage("Где зебра?"), *nothing))


async def test_an_earlier_exchange_does_not_answer_a_new_question() -> None:
    before = [UserMessage("Old?"), *used("searchPages", HITS), AssistantMessage("Old answer")]
    events = await answer(*before, UserMessage("New?"))
    assert [e.name for e in events if isinstance(e, CallStart)] == ["searchPages"]


async def test_without_tools_it_answers_in_words() -> None:
    events = await answer(UserMessage("Q"), tools=())
    assert "may not search" in text(events)
    assert events[-1] == Finished("stop")


async def test_pieces_join_to_the_whole_text() -> None:
    events = await answer(UserMessage("Q"), *used("searchPages", {"hits": []}))
    pieces = [e for e in events if isinstance(e, TextPiece)]
    assert len(pieces) > 3


def test_a_passage_found_by_meaning_is_quoted_though_no_word_agrees() -> None:
    page = PageText.parse(PAGE, HITS["hits"])
    (first, *_) = choose_quotes("vacation", [page])
    assert first.url.endswith("#ccc")


def page(title: str, *blocks: str) -> PageText:
    ids = ((f"b{n}", text) for n, text in enumerate(blocks))
    return PageText(title, f"/p/{title}", tuple(ids), None)


def test_an_abbreviation_does_not_end_a_sentence_and_templates_are_not_quoted() -> None:
    card = page("Card", "_a.k.a. your Smart Card_", '{% include "card.html" steps=card.steps %}')
    assert [q.text for q in choose_quotes("Where is my smart card?", [card])] == [
        "a.k.a. your Smart Card"
    ]


def test_a_page_that_shares_little_is_not_quoted() -> None:
    good = page("Good", "Ask security for a smart card on Monday.")
    poor = page("Poor", "Play your card well, said nobody.")
    quotes = choose_quotes("How do I ask security for a smart card?", [good, poor])
    assert [q.title for q in quotes] == ["Good"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [("How do I request leave?", {"reque", "leave"}), ("Как взять отпуск?", {"взять", "отпус"})],
)
def test_the_words_that_carry_a_question(question: str, expected: set[str]) -> None:
    assert terms(question) == expected


def test_languages_are_told_apart() -> None:
    assert is_russian("Как взять отпуск в GSA?")
    assert not is_russian("What is ё?")
