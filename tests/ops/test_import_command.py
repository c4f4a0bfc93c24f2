"""`pageturn import` and `pageturn reindex` against real stores."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select
from typer import Typer
from typer.testing import CliRunner

from ops.commands.import_pages import import_pages
from ops.commands.reindex import reindex
from ops.errors import OpsError
from shared.accounts.models import Space
from shared.bus.jobs import drain
from shared.core.db import Database
from shared.wiki.document import to_markdown
from shared.wiki.models import Page, PageIndex
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from workers.indexing.indexer import index_page

FILES = {
    "index.md": "---\ntitle: Start\n---\nRead [the guide](guide/first.md) and [more](/old/).",
    "guide/first.md": "# First\n\nBack to [start](../index.md), on to [nowhere](gone.md).",
    "guide/second.md": "---\ntitle: Second\nredirect_from:\n  - /old/\n---\nText.",
    "moved.md": "---\ntitle: Moved\nredirect_to: /old/#part\n---\n",
    "empty.md": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "docs"


async def run(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a command, on a thread: it has an event loop of its own."""
    app = Typer()
    app.command("import")(import_pages)
    app.command("reindex")(reindex)
    await drain()
    result = await asyncio.to_thread(CliRunner().invoke, app, list(arguments))
    if isinstance(result.exception, OpsError):
        return 1, result.exception.message
    return result.exit_code, result.output


async def pages(database: Database, space: str) -> dict[str, Page]:
    async with database.session() as session:
        found = await session.scalars(
            select(Page)
            .join(Space, Space.id == Page.space_id)
            .where(Space.name == space)
            .execution_options(populate_existing=True)
        )
        rows = {page.title: page for page in found}
        for page in rows.values():
            await session.refresh(page, ["content", "text_content"])
        return rows


def markdown(page: Page) -> str:
    return to_markdown(page.content)


def url(page: Page, space: str = "docs") -> str:
    return f"/s/{space}/p/{page.title.lower()}-{page.slug_id}"


async def test_a_folder_becomes_a_space_with_its_tree_and_its_links(
    database: Database, world: World, folder: Path
) -> None:
    code, output = await run("import", str(folder), "--space", "Docs")
    assert code == 0, output
    assert "5 pages from files and 1 pages for folders in Docs (6 new)" in output
    found = await pages(database, "Docs")
    assert set(found) == {"Start", "Guide", "First", "Second", "Moved", "Empty"}
    assert found["First"].parent_page_id == found["Guide"].id
    assert found["Start"].parent_page_id is None
    assert f"[the guide]({url(found['First'])})" in markdown(found["Start"])
    assert f"[more]({url(found['Second'])})" in markdown(found["Start"])
    assert f"[start]({url(found['Start'])})" in markdown(found["First"])
    assert "[nowhere](gone.md)" in markdown(found["First"])
    assert url(found["Second"]) in markdown(found["Moved"])
    assert found["Empty"].text_content == ""
    assert found["Start"].creator_id == world.users["owner"]


async def test_a_second_import_needs_consent_and_then_writes_only_what_changed(
    database: Database, world: World, folder: Path
) -> None:
    await run("import", str(folder), "--space", "Docs")
    before = await pages(database, "Docs")
    code, output = await run("import", str(folder), "--space", "Docs")
    assert code == 1
    assert "--update" in output
    (folder / "guide" / "first.md").write_text("# First\n\nNew text.")
    (folder / "added.md").write_text("Added.")
    code, output = await run("import", str(folder), "--space", "docs", "--update")
    assert code == 0, output
    after = await pages(database, "Docs")
    assert {title: page.id for title, page in after.items() if title != "Added"} == {
        title: page.id for title, page in before.items()
    }
    changed = [title for title in before if after[title].version != before[title].version]
    assert changed == ["First"]
    assert after["First"].text_content == "New text."


async def test_a_bad_file_is_named_and_the_rest_is_imported(
    database: Database, world: World, folder: Path
) -> None:
    (folder / "broken.md").write_bytes(b"caf\xe9")
    code, output = await run("import", str(folder), "--space", "Docs")
    assert code == 1
    assert "broken.md: not UTF-8 text" in output
    assert "Start" in await pages(database, "Docs")


async def test_pages_are_the_person_s_that_is_named_and_their_rights_count(
    database: Database, world: World, folder: Path
) -> None:
    code, output = await run(
        "import", str(folder), "--space", "Wiki", "--as", world.email("writer")
    )
    assert code == 0, output
    assert (await pages(database, "Wiki"))["Start"].creator_id == world.users["writer"]
    code, output = await run("import", str(folder), "--space", "New", "--as", "nobody@example.org")
    assert code == 1
    assert "nobody@example.org" in output


async def test_what_is_not_a_folder_is_one_clear_line(
    database: Database, world: World, tmp_path: Path
) -> None:
    code, output = await run("import", str(tmp_path / "absent"), "--space", "Docs")
    assert code == 1
    assert "is not a folder" in output


async def index_forever(database: Database) -> None:
    """What the index worker does, without a queue."""
    embedder = FakeEmbedder()
    while True:
        async with database.session() as session:
            owed = list(
                await session.scalars(select(PageIndex.page_id).where(PageIndex.state == "pending"))
            )
        for page_id in owed:
            await index_page(database, embedder, page_id)
        await asyncio.sleep(0.02)


@pytest.mark.req("RA-04", "RG-10")
async def test_waiting_ends_when_the_index_holds_every_page(
    database: Database, world: World, folder: Path
) -> None:
    worker = asyncio.create_task(index_forever(database))
    try:
        code, output = await run("import", str(folder), "--space", "Docs", "--wait")
        assert code == 0, output
        assert "6 pages indexed, 4 chunks" in output
        code, output = await run("reindex", "--space", "Docs", "--wait")
        assert code == 0, output
        assert "6 pages to index." in output
        assert "6 pages indexed, 4 chunks" in output
    finally:
        worker.cancel()
    ids: list[UUID] = [page.id for page in (await pages(database, "Docs")).values()]
    async with database.session() as session:
        for page_id in ids:
            row = await session.get_one(PageIndex, page_id)
            assert (row.state, row.indexed_version) == ("indexed", row.wanted_version)


async def test_reindexing_an_unknown_space_is_one_clear_line(
    database: Database, world: World
) -> None:
    code, output = await run("reindex", "--space", "Absent")
    assert (code, "no space" in output) == (1, True)
