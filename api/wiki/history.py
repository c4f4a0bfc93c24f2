"""A page's saved versions."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path

from api.deps import CurrentActor, SessionDep
from api.paging import Cursor, Limit, decode_cursor, encode_cursor
from api.wiki.marks import own_chats
from api.wiki.params import PageRef
from api.wiki.schemas import VersionItem, VersionList, VersionOut, version_item
from shared.core.tunables import PAGE_LIMIT_DEFAULT
from shared.wiki import service
from shared.wiki.document import to_markdown

router = APIRouter(tags=["pages"])

_MAX_VERSION = 2**31 - 1  # what the column holds


@router.get("/pages/{page_id}/history")
async def history(
    page_id: PageRef,
    actor: CurrentActor,
    session: SessionDep,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> VersionList:
    """A page's versions, newest first: who saved each, by which hand, in which chat."""
    before = None if cursor is None else decode_cursor(cursor, _version)[0]
    found = await service.history(session, actor, page_id, before=before, limit=limit + 1)
    shown = found[:limit]
    own = await own_chats(session, actor, [version.row for version in shown])
    return VersionList(
        items=[VersionItem(**version_item(version, own)) for version in shown],
        next_cursor=encode_cursor(shown[-1].row.version) if len(found) > limit else None,
    )


def _version(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _MAX_VERSION:
        raise ValueError
    return number


@router.get("/pages/{page_id}/history/{version}")
async def get_version(
    page_id: PageRef,
    version: Annotated[int, Path(ge=1, le=_MAX_VERSION)],
    actor: CurrentActor,
    session: SessionDep,
) -> VersionOut:
    """One version with its content, as ProseMirror JSON and as Markdown."""
    found = await service.get_version(session, actor, page_id, version)
    own = await own_chats(session, actor, [found.row])
    content = found.row.content
    markdown = await asyncio.to_thread(to_markdown, content)
    return VersionOut(**version_item(found, own), content=content, markdown=markdown)
