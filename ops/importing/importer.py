"""Writing a folder's pages into a space: first every page, then their texts with links.

Pages come first because a link needs the address of the page that it leads to. Each page is
a transaction of its own, so that one bad file costs one page.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from ops.importing.links import Addresses, redirect_document, with_links
from ops.importing.source import Problem, Source, SourcePage
from shared.accounts.actor import Actor
from shared.accounts.models import Space
from shared.core.db import Database
from shared.core.errors import PageturnError
from shared.wiki.document import JsonDict, to_text
from shared.wiki.models import Page
from shared.wiki.service import create_page, update_page
from shared.wiki.urls import page_url


@dataclass(slots=True)
class Report:
    """`files` became pages, `folders` are pages without a file, `created` are new ones."""

    files: int = 0
    folders: int = 0
    created: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Placed:
    page_id: UUID
    slug_id: str


async def is_empty(session: AsyncSession, space_id: UUID) -> bool:
    """Whether a space has no page outside of the trash."""
    live = select(Page.id).where(Page.space_id == space_id, Page.deleted_at.is_(None))
    return await session.scalar(live.limit(1)) is None


class Importer:
    """One run over one space. `advance` is called twice a page."""

    def __init__(
        self, database: Database, actor: Actor, space: Space, advance: Callable[[], None]
    ) -> None:
        self._database = database
        self._actor = actor
        self._space = space
        self._advance = advance
        self._placed: dict[PurePosixPath, _Placed] = {}
        self._report = Report()

    async def run(self, source: Source) -> Report:
        """Import everything; a page of the same title under the same parent is written over,
        and one that holds the same already gets no new version."""
        self._report.problems = list(source.problems)
        there = await self._there()
        for page in source.pages:
            await self._guarded(page, self._place(page, there))
        addresses = Addresses(source.pages)
        urls = {
            page.key: page_url(self._space.slug, page.title, self._placed[page.key].slug_id)
            for page in source.pages
            if page.key in self._placed
        }
        for page in source.pages:
            await self._guarded(page, self._fill(page, addresses, urls))
        return self._report

    def page_ids(self) -> list[UUID]:
        """The pages that the run placed, parents first."""
        return [placed.page_id for placed in self._placed.values()]

    async def _guarded(self, page: SourcePage, work: Awaitable[None]) -> None:
        try:
            await work
        except PageturnError as error:
            self._report.problems.append(Problem(page.path, error.message))
        self._advance()

    async def _there(self) -> dict[tuple[UUID | None, str], _Placed]:
        async with self._database.session() as session:
            rows = await session.execute(
                select(Page.parent_page_id, Page.title, Page.id, Page.slug_id)
                .where(Page.space_id == self._space.id, Page.deleted_at.is_(None))
                .order_by(Page.created_at.desc())
            )
            return {(parent, title): _Placed(id_, slug) for parent, title, id_, slug in rows}

    async def _place(self, page: SourcePage, there: dict[tuple[UUID | None, str], _Placed]) -> None:
        parent = next((self._placed[key] for key in page.key.parents if key in self._placed), None)
        parent_id = None if parent is None else parent.page_id
        # Taken out, so that two files of one title under one parent stay two pages.
        placed = there.pop((parent_id, page.title), None)
        if placed is None:
            async with self._database.session() as session:
                made = await create_page(
                    session,
                    self._actor,
                    space_id=self._space.id,
                    title=page.title,
                    parent_page_id=parent_id,
                )
                placed = _Placed(made.id, made.slug_id)
            self._report.created += 1
        self._placed[page.key] = placed

    async def _fill(
        self, page: SourcePage, addresses: Addresses, urls: dict[PurePosixPath, str]
    ) -> None:
        placed = self._placed.get(page.key)
        if placed is None:
            return
        document = _content(page)
        if document is None:
            self._report.folders += 1
            return
        async with self._database.session() as session:
            await update_page(
                session,
                self._actor,
                placed.page_id,
                content=with_links(document, page, addresses, urls),
            )
        self._report.files += 1


def _content(page: SourcePage) -> JsonDict | None:
    """None for a page without a file."""
    if page.document is None or page.redirect is None or to_text(page.document).strip():
        return page.document
    return redirect_document(page.redirect)
