"""Pages: create, read, save, move, trash, and a space's tree."""

import asyncio
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from api.deps import CurrentActor, SessionDep
from api.paging import Cursor, Limit, decode_cursor, encode_cursor
from api.wiki.marks import own_chats
from api.wiki.params import PageRef
from api.wiki.schemas import (
    PageCreate,
    PageMarkdownOut,
    PageOut,
    PagePatch,
    TreeItem,
    TreeLevel,
    page_head,
)
from shared.accounts.actor import Actor
from shared.core.tunables import PAGE_LIMIT_DEFAULT
from shared.wiki import service
from shared.wiki.document import to_markdown
from shared.wiki.models import Page

router = APIRouter(tags=["pages"])


async def _head(session: SessionDep, actor: Actor, page: Page) -> dict[str, Any]:
    space = await service.get_space(session, page.space_id)
    author = await service.last_author(session, page)
    return page_head(page, space, author, await own_chats(session, actor, [page]))


async def _answer(session: SessionDep, actor: Actor, page: Page) -> PageOut:
    return PageOut(**await _head(session, actor, page), content=page.content)


@router.post("/pages", status_code=201)
async def create_page(body: PageCreate, actor: CurrentActor, session: SessionDep) -> PageOut:
    """Create a page from Markdown or ProseMirror JSON, as the last one under its parent."""
    page = await service.create_page(
        session,
        actor,
        space_id=body.space_id,
        title=body.title,
        content=body.content,
        markdown=body.markdown,
        parent_page_id=body.parent_page_id,
    )
    return await _answer(session, actor, page)


@router.get("/pages/{page_id}")
async def get_page(
    page_id: PageRef,
    actor: CurrentActor,
    session: SessionDep,
    as_format: Annotated[Literal["json", "markdown"], Query(alias="format")] = "json",
) -> PageOut | PageMarkdownOut:
    """A page as ProseMirror JSON, or as Markdown."""
    page = await service.get_page(session, actor, page_id)
    if as_format == "json":
        return await _answer(session, actor, page)
    markdown = await asyncio.to_thread(to_markdown, page.content)
    return PageMarkdownOut(**await _head(session, actor, page), markdown=markdown)


@router.patch("/pages/{page_id}")
async def update_page(
    page_id: PageRef, body: PagePatch, actor: CurrentActor, session: SessionDep
) -> PageOut:
    """Save a title or a content as the next version, move the page, or both. 409 when
    `baseVersion` is not the page's version; `details.version` says which it is."""
    page = await service.update_page(
        session,
        actor,
        page_id,
        title=body.title,
        content=body.content,
        markdown=body.markdown,
        base_version=body.base_version,
    )
    if body.moves:
        sent = body.model_fields_set
        page = await service.move_page(
            session,
            actor,
            page.id,
            parent_page_id=(
                body.parent_page_id if "parent_page_id" in sent else page.parent_page_id
            ),
            after=body.after_page_id,
            first="after_page_id" in sent and body.after_page_id is None,
        )
    return await _answer(session, actor, page)


@router.delete("/pages/{page_id}", status_code=204)
async def trash_page(page_id: PageRef, actor: CurrentActor, session: SessionDep) -> None:
    """Put a page, and what is under it, into the trash."""
    await service.trash_page(session, actor, page_id)


@router.post("/pages/{page_id}/restore")
async def restore_page(page_id: PageRef, actor: CurrentActor, session: SessionDep) -> PageOut:
    """Take a page out of the trash, with what went there with it."""
    return await _answer(session, actor, await service.restore_page(session, actor, page_id))


@router.get("/spaces/{space_id}/tree")
async def tree(
    space_id: UUID,
    actor: CurrentActor,
    session: SessionDep,
    parent_page_id: Annotated[UUID | None, Query(alias="parentPageId")] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> TreeLevel:
    """One level of a space's tree in its order: the top, or the pages under a page."""
    after = None if cursor is None else decode_cursor(cursor, str, UUID)
    nodes = await service.tree(
        session, actor, space_id, parent_page_id=parent_page_id, after=after, limit=limit + 1
    )
    last = nodes[limit - 1].page if len(nodes) > limit else None
    return TreeLevel(
        items=[TreeItem.of(node) for node in nodes[:limit]],
        next_cursor=None if last is None else encode_cursor(last.position, last.id),
    )
