"""The tools that change pages, called as the loop calls them."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from pydantic import ValidationError
from sqlalchemy import select, text

from shared.accounts.actor import Actor
from shared.core.db import Database
from shared.core.errors import ForbiddenError, NotFoundError
from shared.core.tunables import MAX_EDIT_CHARS, MAX_EDITS, TOOL_RESULT_CHARS
from shared.tools.base import ToolContext, ToolResult
from shared.tools.editing import (
    EditPageTextArgs,
    UpdatePageContentArgs,
    edit_page_text,
    update_page_content,
)
from shared.tools.registry import TOOLS
from shared.wiki import service
from shared.wiki.document import InvalidDocumentError, to_markdown, walk_blocks
from shared.wiki.errors import InvalidTitleError, StaleVersionError
from shared.wiki.models import Page, PageHistory
from tests.factories.saved_pages import make_page, put_in_trash, save_page

BODY = "# Hours\n\nWe open at **nine** sharp.\n\n- Mon\n- Tue"


def as_agent(world: Any, name: str = "writer") -> Actor:
    agent: Actor = world.actor(name).as_agent(chat_id=None, turn_id=uuid4())
    return agent


async def edit(
    database: Database, actor: Actor, page_id: UUID, *edits: dict[str, object]
) -> ToolResult:
    args = EditPageTextArgs.model_validate({"pageId": str(page_id), "edits": edits})
    async with database.session() as session:
        return await edit_page_text(ToolContext(session, actor, None), args)


async def rewrite(
    database: Database, actor: Actor, page_id: UUID, content: str, **more: Any
) -> ToolResult:
    args = UpdatePageContentArgs(page_id=page_id, content=content, **more)
    async with database.session() as session:
        return await update_page_content(ToolContext(session, actor, None), args)


async def load(database: Database, world: Any, page_id: UUID) -> Page:
    async with database.session() as session:
        return await service.get_page(session, world.actor("owner"), page_id)


async def markdown_of(database: Database, world: Any, page_id: UUID) -> str:
    return to_markdown((await load(database, world, page_id)).content)


async def versions(database: Database, page_id: UUID) -> list[int]:
    query = select(PageHistory.version).where(PageHistory.page_id == page_id)
    async with database.session() as session:
        return list(await session.scalars(query.order_by(PageHistory.version)))


@pytest.mark.req("TW-08", "TG-08")
async def test_an_edit_tells_what_it_did_what_it_did_not_and_how_to_undo_it(
    database: Database, world: Any
) -> None:
    page = await make_page(database, world, "Opening", BODY)
    result = await edit(
        database,
        as_agent(world),
        page.id,
        {"find": "open at nine", "replace": "open at ten"},
        {"find": "Wednesday", "replace": "Thursday"},
        {"find": "o", "replace": "0"},
    )
    assert result.output["applied"] == [{"find": "open at nine", "replacements": 1}]
    failed = {item["find"]: item["reason"] for item in result.output["failed"]}
    assert "not on the page" in failed["Wednesday"]
    assert "3 times" in failed["o"]
    assert (result.output["version"], result.output["changed"]) == (2, True)
    assert result.output["url"].endswith(page.slug_id)
    changed = await load(database, world, page.id)
    assert to_markdown(changed.content) == BODY.replace("nine", "ten")
    assert (changed.last_updated_source, changed.last_updated_by_id) == (
        "agent",
        world.actor("writer").user_id,
    )
    assert result.inverse == {"action": "restore_version", "pageId": str(page.id), "version": 1}
    ids = [block["attrs"]["id"] for block in walk_blocks(page.content)]
    assert [block["attrs"]["id"] for block in walk_blocks(changed.content)] == ids
    async with database.session() as session:
        query = select(PageHistory.content).where(
            PageHistory.page_id == page.id, PageHistory.version == 1
        )
        assert await session.scalar(query) == page.content
        searched = await session.scalar(select(Page.text_content).where(Page.id == page.id))
        assert "open at ten sharp" in str(searched)


@pytest.mark.req("TG-08")
async def test_edits_that_change_nothing_make_no_version_and_say_so(
    database: Database, world: Any
) -> None:
    page = await make_page(database, world, "Opening", BODY)
    for edits in (
        [{"find": "absent", "replace": "x"}, {"find": "nine", "replace": "**nine**"}],
        [{"find": "nine", "replace": "ten"}, {"find": "ten", "replace": "nine"}],
    ):
        result = await edit(database, as_agent(world), page.id, *edits)
        told = len(result.output["applied"]) + len(result.output["failed"])
        assert (told, result.output["version"], result.output["changed"]) == (2, 1, False)
        assert result.inverse is None
    assert await versions(database, page.id) == [1]
    assert (await load(database, world, page.id)).last_updated_source == "user"


@pytest.mark.req("TG-01", "TG-07")
async def test_changing_needs_the_right_to_write(database: Database, world: Any) -> None:
    page = await make_page(database, world, "Opening", BODY)
    for name, error in (
        ("reader", ForbiddenError),
        ("outsider", NotFoundError),
        ("other", NotFoundError),
    ):
        with pytest.raises(error):
            await edit(database, as_agent(world, name), page.id, {"find": "nine", "replace": "x"})
        with pytest.raises(error):
            await rewrite(database, as_agent(world, name), page.id, "Gone.", title="Gone")
    unchanged = await load(database, world, page.id)
    assert (unchanged.title, unchanged.version, unchanged.content) == ("Opening", 1, page.content)
    await put_in_trash(database, world, page.id)
    with pytest.raises(NotFoundError):
        await edit(database, as_agent(world), page.id, {"find": "nine", "replace": "x"})


async def waiting_for_a_lock(database: Database) -> None:
    """Until some statement waits for another transaction."""
    async with asyncio.timeout(10), database.session() as session:
        while not await session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
            await asyncio.sleep(0.005)


@pytest.mark.req("TW-08")
async def test_an_edit_is_made_on_what_a_person_saves_at_the_same_moment(
    database: Database, world: Any
) -> None:
    page = await make_page(database, world, "Both", "First words.\n\nLast words.")
    async with database.session() as session:
        await service.update_page(
            session, world.actor("owner"), page.id, markdown="First deeds.\n\nLast words."
        )
        editing = asyncio.create_task(
            edit(database, as_agent(world), page.id, {"find": "Last words", "replace": "The end"})
        )
        await waiting_for_a_lock(database)
    result = await editing
    assert (result.output["version"], result.inverse and result.inverse["version"]) == (3, 2)
    assert await markdown_of(database, world, page.id) == "First deeds.\n\nThe end."


@pytest.mark.req("TW-02")
async def test_a_rewritten_page_keeps_the_ids_of_its_blocks_and_counts_them(
    database: Database, world: Any
) -> None:
    page = await make_page(database, world, "Opening", "# A\n\nOne two three.\n\nStays.\n\nGoes.")
    result = await rewrite(
        database,
        as_agent(world),
        page.id,
        "# A\n\nOne two four.\n\nStays.\n\n- new",
        title="Closing",
        base_version=1,
    )
    assert result.output["applied"] == [
        {"blocksKept": 2, "blocksChanged": 1, "blocksAdded": 1, "blocksRemoved": 1}
    ]
    assert result.output["failed"] == []
    told = (result.output["title"], result.output["version"], result.output["changed"])
    assert told == ("Closing", 2, True)
    assert result.inverse == {"action": "restore_version", "pageId": str(page.id), "version": 1}
    changed = await load(database, world, page.id)
    olds = [block["attrs"]["id"] for block in page.content["content"]]
    assert [block["attrs"]["id"] for block in changed.content["content"]][:3] == olds[:3]
    assert (changed.title, changed.last_updated_source) == ("Closing", "agent")

    again = await rewrite(database, as_agent(world), page.id, to_markdown(changed.content))
    assert (again.output["applied"], again.output["changed"], again.inverse) == ([], False, None)
    assert await versions(database, page.id) == [1, 2]


@pytest.mark.req("TW-02")
async def test_a_rewrite_of_an_older_version_is_refused_and_names_the_newest(
    database: Database, world: Any
) -> None:
    page = await make_page(database, world, "Opening", "One.")
    await save_page(database, world, page.id, markdown="By a person.")
    with pytest.raises(StaleVersionError, match="version 2") as stale:
        await rewrite(database, as_agent(world), page.id, "Two.", title="Two", base_version=1)
    assert stale.value.details == {"version": 2}
    assert await markdown_of(database, world, page.id) == "By a person."
    await rewrite(database, as_agent(world), page.id, "Two.")
    assert await markdown_of(database, world, page.id) == "Two."


@pytest.mark.req("TW-02")
async def test_a_body_or_a_title_that_cannot_be_saved_leaves_both_as_they_were(
    database: Database, world: Any
) -> None:
    page = await make_page(database, world, "Old title", "Old body.")
    too_large = "a\\\n" * 100_000 + "a"
    with pytest.raises(InvalidDocumentError):
        await rewrite(database, as_agent(world), page.id, too_large, title="New title")
    with pytest.raises(InvalidTitleError):
        await rewrite(database, as_agent(world), page.id, "New body.", title="  ")
    unchanged = await load(database, world, page.id)
    assert (unchanged.title, unchanged.version) == ("Old title", 1)
    assert to_markdown(unchanged.content) == "Old body."


async def test_as_many_refusals_as_there_can_be_fit_into_a_result(
    database: Database, world: Any
) -> None:
    long = "Ж" * 900
    page = await make_page(database, world, "Long", f"{long} – {long}.")
    edits = [{"find": f"{long} - {long}", "replace": str(n)} for n in range(MAX_EDITS - 1)]
    result = await edit(
        database, as_agent(world), page.id, *edits, {"find": ".", "replace": "!"}
    )  # fmt: skip
    assert len(result.output["failed"]) == MAX_EDITS - 1
    assert "– Ж" in result.output["failed"][0]["reason"]
    assert len(orjson.dumps(result.output)) < TOOL_RESULT_CHARS
    assert result.output["changed"] is True


def test_edits_are_bounded_and_what_the_schema_does_not_know_is_dropped() -> None:
    one = {"find": "a", "replace": "b", "regex": True}
    page_id = str(uuid4())
    args = EditPageTextArgs.model_validate({"pageId": page_id, "edits": [one], "force": True})
    assert args.model_dump(by_alias=True) == {
        "pageId": UUID(page_id),
        "edits": [{"find": "a", "replace": "b", "replaceAll": False}],
    }
    long = {"find": "a", "replace": "b" * MAX_EDIT_CHARS}
    for edits in ([], [one] * (MAX_EDITS + 1), [long]):
        with pytest.raises(ValidationError):
            EditPageTextArgs.model_validate({"pageId": page_id, "edits": edits})


def test_a_tools_schema_holds_all_of_itself() -> None:
    for tool in TOOLS:
        schema = orjson.dumps(tool.schema())
        assert b"$ref" not in schema
        assert b"$defs" not in schema
