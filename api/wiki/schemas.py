"""The wire shapes of pages."""

from collections.abc import Set
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from api.schemas import ApiModel
from api.wiki.marks import AiChat, Author
from shared.accounts.models import Space
from shared.core.tunables import MAX_DOCUMENT_BYTES
from shared.wiki.history import Version
from shared.wiki.models import Page
from shared.wiki.service import TreeNode
from shared.wiki.urls import page_url

Document = dict[str, Any]
Markdown = Annotated[str, Field(max_length=MAX_DOCUMENT_BYTES)]
Source = Literal["user", "agent"]


class PageCreate(ApiModel):
    """`markdown` or `content` (ProseMirror JSON), or neither for an empty page."""

    space_id: UUID
    title: str
    parent_page_id: UUID | None = None
    markdown: Markdown | None = None
    content: Document | None = None


class PagePatch(ApiModel):
    """What to change. `baseVersion` is the version that the change was made on.

    `parentPageId` moves the page (null: to the top); it then stands behind the page
    `afterPageId`, first if that is null, last if that is absent.
    """

    title: str | None = None
    markdown: Markdown | None = None
    content: Document | None = None
    base_version: int | None = None
    parent_page_id: UUID | None = None
    after_page_id: UUID | None = None

    @property
    def moves(self) -> bool:
        return bool({"parent_page_id", "after_page_id"} & self.model_fields_set)


class PageHead(ApiModel):
    """A page without its content."""

    id: UUID
    space_id: UUID
    parent_page_id: UUID | None
    slug_id: str
    title: str
    url: str
    version: int
    creator_id: UUID | None
    last_updated_by: Author | None
    last_updated_source: Source
    ai_chat: AiChat | None
    created_at: datetime
    updated_at: datetime


class PageOut(PageHead):
    """A page as ProseMirror JSON."""

    content: Document


class PageMarkdownOut(PageHead):
    """A page as Markdown."""

    markdown: str


def page_head(page: Page, space: Space, author: str | None, own: Set[UUID]) -> dict[str, Any]:
    """The fields of PageHead, for a reader whose chats `own` are."""
    return {
        "id": page.id,
        "space_id": page.space_id,
        "parent_page_id": page.parent_page_id,
        "slug_id": page.slug_id,
        "title": page.title,
        "url": page_url(space.slug, page.title, page.slug_id),
        "version": page.version,
        "creator_id": page.creator_id,
        "last_updated_by": Author.of(page, author),
        "last_updated_source": page.last_updated_source,
        "ai_chat": AiChat.of(page, own),
        "created_at": page.created_at,
        "updated_at": page.updated_at,
    }


class TreeItem(ApiModel):
    id: UUID
    title: str
    slug_id: str
    parent_page_id: UUID | None
    has_children: bool

    @classmethod
    def of(cls, node: TreeNode) -> "TreeItem":
        page = node.page
        return cls(
            id=page.id,
            title=page.title,
            slug_id=page.slug_id,
            parent_page_id=page.parent_page_id,
            has_children=node.has_children,
        )


class TreeLevel(ApiModel):
    items: list[TreeItem]
    next_cursor: str | None = None


class VersionItem(ApiModel):
    """A saved version: who, and by which hand."""

    version: int
    title: str
    author: Author | None
    last_updated_source: Source
    ai_chat: AiChat | None
    created_at: datetime


class VersionOut(VersionItem):
    """A saved version with its content, twice."""

    content: Document
    markdown: str


class VersionList(ApiModel):
    items: list[VersionItem]
    next_cursor: str | None = None


def version_item(version: Version, own: Set[UUID]) -> dict[str, Any]:
    """The fields of VersionItem, for a reader whose chats `own` are."""
    row = version.row
    return {
        "version": row.version,
        "title": row.title,
        "author": Author.of(row, version.author),
        "last_updated_source": row.last_updated_source,
        "ai_chat": AiChat.of(row, own),
        "created_at": row.created_at,
    }
