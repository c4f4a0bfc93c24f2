"""The agent's tools, called as the loop calls them."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import update

from shared.core.db import Database
from shared.core.errors import ForbiddenError, InvalidInputError, NotFoundError
from shared.tools.base import ToolContext
from shared.tools.pages import (
    CreatePageArgs,
    GetPageArgs,
    ListPagesArgs,
    create_page,
    get_page,
    list_pages,
)
from shared.tools.registry import TOOLS
from shared.tools.search import SearchPagesArgs, search_pages
from shared.wiki import service
from shared.wiki.models import Page

MARKDOWN = """\
Some **bold** words.

| Day | Hours |
| --- | ----- |
| Mon | 8 |

> [!WARNING]
> Mind the step.

```python
print("hi")
```
"""


async def make(
    database: Database, actor: Any, space: UUID, title: str, markdown: str = "", **more: Any
) -> UUID:
    async with database.session() as session:
        page = await service.create_page(
            session, actor, space_id=space, title=title, markdown=markdown, **more
        )
        return page.id


@pytest.mark.req("TR-02")
async def test_a_page_comes_as_markdown_with_table_callout_and_code(
    database: Database, world: Any
) -> None:
    writer = world.actor("writer")
    page_id = await make(database, writer, world.space("WIKI"), "Rules", MARKDOWN)
    async with database.session() as session:
        result = await get_page(ToolContext(session, writer, None), GetPageArgs(page_id=page_id))
        plain = result.output["markdown"]
        with_ids = await get_page(
            ToolContext(session, writer, None), GetPageArgs(page_id=page_id, block_ids=True)
        )
    assert set(result.output) >= {"title", "space", "updatedAt", "url", "version"}
    for piece in ("**bold**", "| Day | Hours |", "Mind the step.", '```python\nprint("hi")\n```'):
        assert piece in plain
    again = await make(database, writer, world.space("WIKI"), "Rules again", plain)
    async with database.session() as session:
        second = await get_page(ToolContext(session, writer, None), GetPageArgs(page_id=again))
    assert second.output["markdown"] == plain
    assert with_ids.output["markdown"].count("[#") == 4


@pytest.mark.req("TR-05")
async def test_lists_say_that_there_is_more_and_a_tree_needs_its_space(
    database: Database, world: Any
) -> None:
    writer = world.actor("writer")
    space = world.space("WIKI")
    top = await make(database, writer, space, "Top")
    for number in range(119):
        await make(database, writer, space, f"Page {number}", parent_page_id=top)
    await make(database, world.actor("owner"), world.space("PRIV"), "Hidden")
    async with database.session() as session:
        context = ToolContext(session, writer, None)
        listed = (await list_pages(context, ListPagesArgs(limit=100))).output
        assert len(listed["pages"]) == 100
        assert listed["truncated"] is True
        whole = (await list_pages(context, ListPagesArgs(space_id=space, tree=True))).output
        assert whole["truncated"] is False
        (root,) = whole["pages"]
        assert (root["title"], len(root["children"])) == ("Top", 119)
        assert "Hidden" not in str(listed)
        with pytest.raises(InvalidInputError):
            await list_pages(context, ListPagesArgs(tree=True))
        with pytest.raises(NotFoundError):
            await list_pages(context, ListPagesArgs(space_id=world.space("PRIV")))


@pytest.mark.req("TR-01", "TG-07")
async def test_search_finds_what_may_be_read_without_any_vectors(
    database: Database, world: Any
) -> None:
    writer, owner, other = (world.actor(name) for name in ("writer", "owner", "other"))
    long = "The zebra crossing is closed. " * 40
    await make(database, writer, world.space("WIKI"), "Crossing", long)
    await make(database, writer, world.space("WIKI"), "Zebra", "Stripes.")
    await make(database, owner, world.space("PRIV"), "Zebra secret", "zebra")
    await make(database, other, world.space("OTHER"), "Zebra elsewhere", "zebra")
    async with database.session() as session:
        result = await search_pages(
            ToolContext(session, writer, None), SearchPagesArgs(query="zebra", limit=10)
        )
    hits = result.output["hits"]
    assert {hit["title"] for hit in hits} == {"Crossing", "Zebra"}
    for hit in hits:
        assert set(hit) >= {"pageId", "title", "space", "snippet", "url"}
        assert len(hit["snippet"]) <= 300
    assert result.output["mode"] == "text"


@pytest.mark.req("TG-01", "PN-03")
async def test_creating_needs_the_right_and_a_trashed_page_is_gone(
    database: Database, world: Any
) -> None:
    args = CreatePageArgs(space_id=world.space("WIKI"), title="New", content="Text")
    async with database.session() as session:
        with pytest.raises(ForbiddenError):
            await create_page(ToolContext(session, world.actor("reader"), None), args)
        with pytest.raises(NotFoundError):
            await create_page(ToolContext(session, world.actor("outsider"), None), args)
    agent = world.actor("writer").as_agent(chat_id=None, turn_id=uuid4())
    async with database.session() as session:
        made = await create_page(ToolContext(session, agent, None), args)
        page = await session.get_one(Page, UUID(made.output["pageId"]))
        assert page.last_updated_source == "agent"
        await service.trash_page(session, world.actor("writer"), page.id)
    async with database.session() as session:
        with pytest.raises(NotFoundError):
            await get_page(
                ToolContext(session, world.actor("writer"), None), GetPageArgs(page_id=page.id)
            )


async def test_a_membership_that_ended_ends_the_agents_sight_too(
    database: Database, world: Any
) -> None:
    from shared.accounts.models import SpaceMember

    reader = world.actor("reader")
    page_id = await make(database, world.actor("writer"), world.space("WIKI"), "P", "text")
    async with database.session() as session:
        await session.execute(
            update(SpaceMember)
            .where(SpaceMember.user_id == reader.user_id)
            .values(space_id=world.space("READ"))
        )
        with pytest.raises(NotFoundError):
            await get_page(ToolContext(session, reader, None), GetPageArgs(page_id=page_id))


def test_no_schema_asks_for_what_is_pinned() -> None:
    for tool in TOOLS:
        names = set(tool.schema()["properties"])
        assert not names & {"workspaceId", "userId", "sessionId", "actor", "turnId", "chatId"}
        assert tool.description
        assert tool.title
