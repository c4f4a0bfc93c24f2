"""The agent changes pages: turns through the loop, with a scripted model and real stores."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
from sqlalchemy import func, select, update

from shared.chat.models import ToolCall, Turn
from shared.chat.recovery import reap
from shared.wiki import service
from shared.wiki.document import to_markdown
from shared.wiki.models import Page, PageHistory
from tests.factories.saved_pages import make_page, save_page
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from workers.llm.base import TextPiece, ToolMessage

BODY = "We open at **nine** sharp."


def edit(page_id: UUID, find: str, replace: str, **more: object) -> tuple[str, dict[str, object]]:
    edits = [{"find": find, "replace": replace, **more}]
    return "editPageText", {"pageId": str(page_id), "edits": edits, **more}


async def history(stage: Stage, page_id: UUID) -> list[PageHistory]:
    query = select(PageHistory).where(PageHistory.page_id == page_id)
    async with stage.database.session() as session:
        return list(await session.scalars(query.order_by(PageHistory.version)))


async def markdown_of(stage: Stage, world: Any, page_id: UUID) -> str:
    async with stage.database.session() as session:
        page = await service.get_page(session, world.actor("owner"), page_id)
        return to_markdown(page.content)


def outcomes(model: ScriptedModel) -> list[ToolMessage]:
    """What the model was told of its calls when it was asked for the last time."""
    return [m for m in model.requests[-1].messages if isinstance(m, ToolMessage)]


@pytest.mark.req("TG-01", "TW-08", "TW-02")
async def test_a_reader_is_refused_and_a_writer_with_the_same_words_is_served(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Opening", BODY)
    rewrite = {"pageId": str(page.id), "content": "We open at ten.", "title": "Hours"}
    for name, asked in (
        ("editPageText", edit(page.id, "nine", "ten")[1]),
        ("updatePageContent", rewrite),
    ):
        model = ScriptedModel([call((name, asked)), say("No.")])
        turn_id = await stage.ask(world.actor("reader"), "Change it", model)
        part = (await stage.answer(turn_id)).parts[1]
        assert (part["type"], part["state"]) == (f"tool-{name}", "output-error")
        assert "forbidden" in part["errorText"]
        assert outcomes(model)[0].is_error
    assert len(await history(stage, page.id)) == 1
    assert await markdown_of(stage, world, page.id) == BODY

    model = ScriptedModel([call(edit(page.id, "at nine", "at ten")), say("Done.")])
    turn_id = await stage.ask(world.actor("writer"), "Change it", model)
    output = (await stage.answer(turn_id)).parts[1]["output"]
    assert output["applied"] == [{"find": "at nine", "replacements": 1}]
    assert (output["failed"], output["version"], output["changed"]) == ([], 2, True)
    assert await markdown_of(stage, world, page.id) == "We open at **ten** sharp."
    model = ScriptedModel([call(("updatePageContent", rewrite)), say("Done.")])
    turn_id = await stage.ask(world.actor("writer"), "Change it", model)
    output = (await stage.answer(turn_id)).parts[1]["output"]
    assert (output["title"], output["version"], output["changed"]) == ("Hours", 3, True)


@pytest.mark.req("PN-01", "PN-03")
async def test_each_change_is_a_version_of_the_agent_in_its_chat_and_can_be_undone(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Opening", BODY)
    script = [
        call(
            edit(page.id, "nine", "ten"),
            ("updatePageContent", {"pageId": str(page.id), "content": "Closed.", "baseVersion": 2}),
        ),
        say("Done."),
    ]
    turn_id = await stage.ask(world.actor("writer"), "Change it", ScriptedModel(script))
    chat_id = (await stage.turn(turn_id)).chat_id
    by_owner, edited, rewritten = await history(stage, page.id)
    assert (by_owner.last_updated_source, by_owner.last_updated_ai_chat_id) == ("user", None)
    for version in (edited, rewritten):
        assert version.last_updated_source == "agent"
        assert version.last_updated_ai_chat_id == chat_id
        assert version.last_updated_by_id == world.actor("writer").user_id
    async with stage.database.session() as session:
        current = await session.get_one(Page, page.id)
        stored = await session.scalars(select(ToolCall).order_by(ToolCall.ordinal))
        inverses = [row.inverse for row in stored]
    assert (current.last_updated_source, current.last_updated_ai_chat_id) == ("agent", chat_id)
    assert inverses == [
        {"action": "restore_version", "pageId": str(page.id), "version": version}
        for version in (1, 2)
    ]


@pytest.mark.req("TG-08")
async def test_the_model_is_told_which_edits_failed_and_tries_those_again(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Fish", "One fish, two fish. Red fish.")
    first = {
        "pageId": str(page.id),
        "edits": [{"find": "fish", "replace": "bird"}, {"find": "Red", "replace": "Blue"}],
    }
    model = ScriptedModel(
        [call(("editPageText", first)), call(edit(page.id, "two fish", "two birds")), say("Done.")]
    )
    await stage.ask(world.actor("writer"), "Change it", model)
    told = [orjson.loads(outcome.content) for outcome in outcomes(model)]
    assert [item["find"] for item in told[0]["failed"]] == ["fish"]
    assert [item["find"] for item in told[0]["applied"]] == ["Red"]
    assert not outcomes(model)[0].is_error
    assert told[1]["changed"] is True
    assert await markdown_of(stage, world, page.id) == "One fish, two birds. Blue fish."


async def test_a_rewrite_of_a_page_that_moved_on_fails_with_its_version(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Opening", BODY)
    await save_page(stage.database, world, page.id, markdown="By a person.")
    asked = {"pageId": str(page.id), "content": "Mine.", "title": "Mine", "baseVersion": 1}
    model = ScriptedModel([call(("updatePageContent", asked)), say("I read it again.")])
    turn_id = await stage.ask(world.actor("writer"), "Rewrite it", model)
    text = (await stage.answer(turn_id)).parts[1]["errorText"]
    assert text.startswith("stale_version")
    assert "version 2" in text
    assert await markdown_of(stage, world, page.id) == "By a person."
    async with stage.database.session() as session:
        assert (await session.get_one(Page, page.id)).title == "Opening"


@pytest.mark.req("TG-03")
async def test_no_argument_and_no_tool_destroys_a_page(stage: Stage, world: Any) -> None:
    page = await make_page(stage.database, world, "Opening", BODY)
    gone = {"permanentlyDelete": True, "forceDelete": True}
    created = {"spaceId": str(world.space("WIKI")), "title": "New", "content": "Text.", **gone}
    rewrite = {"pageId": str(page.id), "content": "We open at one.", **gone}
    model = ScriptedModel(
        [
            call(
                ("createPage", created),
                edit(page.id, "nine", "ten", **gone),
                ("updatePageContent", rewrite),
                ("getPage", {"pageId": str(page.id), **gone}),
                ("deletePage", {"pageId": str(page.id), **gone}),
                ("permanentlyDeletePage", {"pageId": str(page.id)}),
            ),
            say("Done."),
        ]
    )
    await stage.ask(world.actor("owner"), "Destroy it", model)
    assert [outcome.is_error for outcome in outcomes(model)] == [False] * 4 + [True] * 2
    assert "unknown_or_disallowed_tool" in outcomes(model)[4].content
    async with stage.database.session() as session:
        pages = {row.title: row.deleted_at for row in await session.scalars(select(Page))}
    assert pages == {"Opening": None, "New": None}
    assert await markdown_of(stage, world, page.id) == "We open at one."
    assert [row.version for row in await history(stage, page.id)] == [1, 2, 3]


async def test_an_edit_that_was_committed_before_its_worker_died_is_not_made_again(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Grows", "a word")
    dead = asyncio.Event()
    first = ScriptedModel(
        [call(edit(page.id, "word", "word word")), [TextPiece("half"), dead.set, asyncio.Event()]]
    )
    turn_id = await stage.send(world.actor("writer"), "Grow it")
    playing = asyncio.create_task(stage.play(turn_id, first))
    await asyncio.wait_for(dead.wait(), 10)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    async with stage.database.session() as session:
        past = func.now() - timedelta(seconds=1)
        await session.execute(update(Turn).where(Turn.id == turn_id).values(lease_until=past))
        assert (await reap(session, requeue_seconds=1)).requeued == [turn_id]

    second = ScriptedModel([say("Done.")])
    await stage.play(turn_id, second)

    (outcome,) = outcomes(second)
    told = orjson.loads(outcome.content)
    assert (told["version"], told["changed"], outcome.is_error) == (2, True, False)
    assert await markdown_of(stage, world, page.id) == "a word word"
    assert [row.version for row in await history(stage, page.id)] == [1, 2]
    assert (await stage.turn(turn_id)).status == "completed"


async def test_text_that_cannot_be_stored_is_made_storable_before_it_is_looked_for(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Opening", BODY)
    edits = '[{"find": "ni\\u0000ne", "replace": "t\\u0000en \\ud800"}]'
    raw = f'{{"pageId": "{page.id}", "edits": {edits}}}'
    model = ScriptedModel([call(("editPageText", raw)), say("Done.")])
    turn_id = await stage.ask(world.actor("writer"), "Change it", model)
    assert (await stage.turn(turn_id)).status == "completed"
    assert not outcomes(model)[0].is_error, outcomes(model)[0].content
    assert await markdown_of(stage, world, page.id) == "We open at **ten \ufffd** sharp."
