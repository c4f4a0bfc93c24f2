"""Titles and summaries: small calls beside the answer, which no failure of theirs may harm."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from shared.bus import jobs
from shared.bus.jobs import Job, MakeTitle
from shared.chat.models import Chat, Generation, Message
from shared.providers.models import AiSettings, CatalogueModel, ProviderCredential
from tests.fakes.scripted_model import ScriptedModel, say
from tests.fakes.turns import Stage
from workers.agent.titles import make_title
from workers.llm.base import ModelError, UserMessage


@pytest.fixture
async def connected(stage: Stage, world: Any) -> Stage:
    """A workspace with a model of its own: the offline answerer makes no small calls."""
    async with stage.database.session() as session:
        ai = await session.get_one(AiSettings, world.workspace_id)
        ai.driver, ai.chat_model, ai.small_model = "ollama", "big", "small"
        session.add(
            ProviderCredential(
                workspace_id=world.workspace_id, driver="ollama", base_url="http://127.0.0.1:9/v1"
            )
        )
        session.add(
            CatalogueModel(
                workspace_id=world.workspace_id,
                driver="ollama",
                model="small",
                input_price=Decimal(2),
                output_price=Decimal(10),
            )
        )
    return stage


async def asked(stage: Stage, world: Any) -> UUID:
    turn_id = await stage.ask(
        world.actor("writer"), "How long is leave?", ScriptedModel([say("12 weeks.")]), alias="c"
    )
    return (await stage.turn(turn_id)).chat_id


async def title_of(stage: Stage, chat_id: UUID) -> tuple[str, str]:
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        return chat.title, chat.title_source


async def generations(stage: Stage, kind: str) -> list[Generation]:
    async with stage.database.session() as session:
        return list(await session.scalars(select(Generation).where(Generation.type == kind)))


@pytest.mark.req("CH-07")
async def test_a_title_is_asked_for_after_the_answer_and_of_the_small_model(
    connected: Stage, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Job] = []
    monkeypatch.setattr(jobs, "enqueue", sent.append)
    seen_during: list[int] = []
    answering = ScriptedModel([[lambda: seen_during.append(len(sent)), *say("12 weeks.")]])
    turn_id = await connected.ask(world.actor("writer"), "How long?", answering, alias="c")
    chat_id = (await connected.turn(turn_id)).chat_id
    titles = [job for job in sent if isinstance(job, MakeTitle)]
    assert titles == [MakeTitle(chat_id=chat_id)]
    assert sent.index(titles[0]) >= seen_during[0]

    model = ScriptedModel([say('"Parental leave: how long it is, in weeks."')])
    await make_title(connected.runtime, chat_id, model=model)
    assert await title_of(connected, chat_id) == ("Parental leave: how long it is", "model")
    (request,) = model.requests
    assert (request.model, request.tools) == ("small", ())
    assert request.max_output_tokens is not None
    # A titled chat is not named again, nor asked about.
    sent.clear()
    await connected.ask(world.actor("writer"), "And?", ScriptedModel([say("So.")]), alias="c")
    assert [job for job in sent if isinstance(job, MakeTitle)] == []


@pytest.mark.req("MN-05")
async def test_a_title_is_accounted_for_under_its_own_type(connected: Stage, world: Any) -> None:
    chat_id = await asked(connected, world)
    await make_title(connected.runtime, chat_id, model=ScriptedModel([say("Leave", "s")]))
    (row,) = await generations(connected, "title")
    assert (row.status, row.model, row.chat_id) == ("success", "small", chat_id)
    assert (row.input_tokens, row.output_tokens) == (10, 2)
    assert row.cost_in_cents == Decimal("0.004")  # 10 × $2 + 2 × $10 a million, in cents
    assert (await generations(connected, "chat"))[0].status == "success"


@pytest.mark.req("CH-07")
@pytest.mark.parametrize(
    "answer",
    [
        [ModelError("500", code="provider_error", status=500)],
        say(""),
        say(" \u200b \n"),
        say('"""'),
    ],
)
async def test_a_title_that_fails_leaves_the_first_words(
    connected: Stage, world: Any, answer: list[Any]
) -> None:
    chat_id = await asked(connected, world)
    await make_title(connected.runtime, chat_id, model=ScriptedModel([answer]))
    assert await title_of(connected, chat_id) == ("How long is leave?", "message")


async def test_a_title_is_short_whatever_the_model_says(connected: Stage, world: Any) -> None:
    chat_id = await asked(connected, world)
    long = ScriptedModel([say("w" * 300 + " " + "x" * 300 + "\nSecond line")])
    await make_title(connected.runtime, chat_id, model=long)
    title, _ = await title_of(connected, chat_id)
    assert len(title) <= 120
    assert "\n" not in title


async def test_a_persons_own_title_stays(connected: Stage, world: Any) -> None:
    chat_id = await asked(connected, world)
    async with connected.database.session() as session:
        await session.execute(update(Chat).values(title="Mine", title_source="user"))
    model = ScriptedModel()
    await make_title(connected.runtime, chat_id, model=model)
    assert await title_of(connected, chat_id) == ("Mine", "user")
    assert model.requests == []


async def test_the_offline_answerer_makes_no_titles(stage: Stage, world: Any) -> None:
    chat_id = await asked(stage, world)
    await make_title(stage.runtime, chat_id)
    assert (await title_of(stage, chat_id))[1] == "message"
    assert await generations(stage, "title") == []


async def long_chat(stage: Stage, world: Any, turns: int) -> None:
    for number in range(turns):
        text = f"Question {number}: " + "why " * 300
        model = ScriptedModel(forever=say(f"Answer {number}: " + "because " * 300))
        await stage.ask(world.actor("writer"), text, model, alias="c")


async def narrow(stage: Stage, world: Any, window: int) -> None:
    async with stage.database.session() as session:
        ai = await session.get_one(AiSettings, world.workspace_id)
        ai.context_window = window


async def test_what_finds_no_room_is_summarised_once_and_told_from_then_on(
    connected: Stage, world: Any
) -> None:
    await narrow(connected, world, 1_000_000)
    await long_chat(connected, world, 6)
    await narrow(connected, world, 5_000)
    model = ScriptedModel([say("They asked why."), say("Fine.")])
    await connected.ask(world.actor("writer"), "And now?", model, alias="c")
    model.assert_consumed()
    summarising, answering = model.requests
    assert summarising.model == "small"
    assert "Question 0" in str(summarising.messages[0])
    first, last = answering.messages[0], answering.messages[-1]
    assert isinstance(first, UserMessage)
    assert "They asked why." in first.text
    assert last == UserMessage("And now?")
    (row,) = await generations(connected, "summary")
    assert (row.status, row.model) == ("success", "small")
    # The next turn finds the summary and makes no other.
    model = ScriptedModel([say("Still fine.")])
    await connected.ask(world.actor("writer"), "And then?", model, alias="c")
    assert "They asked why." in str(model.requests[0].messages[0])
    async with connected.database.session() as session:
        kept = await session.scalars(select(Message.summary).where(Message.summary.is_not(None)))
        assert list(kept) == ["They asked why."]


async def test_without_a_summary_the_answer_comes_all_the_same(
    connected: Stage, world: Any
) -> None:
    await narrow(connected, world, 1_000_000)
    await long_chat(connected, world, 6)
    await narrow(connected, world, 5_000)
    model = ScriptedModel([[ModelError("busy", code="provider_overloaded")], say("Fine.")])
    turn_id = await connected.ask(world.actor("writer"), "And now?", model, alias="c")
    assert (await connected.turn(turn_id)).status == "completed"
    first = model.requests[1].messages[0]
    assert isinstance(first, UserMessage)
    assert "left out" in first.text
    assert (await generations(connected, "summary"))[0].error_code == "provider_overloaded"
    # The next turn does not wait for a summary again.
    model = ScriptedModel([say("Fine again.")])
    await connected.ask(world.actor("writer"), "And then?", model, alias="c")
    assert "left out" in str(model.requests[0].messages[0])
    assert len(await generations(connected, "summary")) == 1
