"""The wire shapes of pages."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from api.schemas import ApiModel
from shared.accounts.models import Space
from shared.core.tunables import MAX_DOCUMENT_BYTES
from shared.wiki.models import Page, PageHistory
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
    last_updated_by_id: UUID | None
    last_updated_source: Source
    last_updated_ai_chat_id: UUID | None
    created_at: datetime
    updated_at: datetime


class PageOut(PageHead):
    """A page as ProseMirror JSON."""

    content: Document


class PageMarkdownOut(PageHead):
    """A page as Markdown."""

    markdown: str


def page_head(page: Page, space: Space) -> dict[str, Any]:
    """The fields of PageHead."""
    return {
        "id": page.id,
        "space_id": page.space_id,
        "parent_page_id": page.parent_page_id,
        "slug_id": page.slug_id,
        "title": page.title,
        "url": page_url(space.slug, page.title, page.slug_id),
        "version": page.version,
        "creator_id": page.creator_id,
        "last_updated_by_id": page.last_updated_by_id,
        "last_updated_source": page.last_updated_source,
        "last_updated_ai_chat_id": page.last_updated_ai_chat_id,
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
    last_updated_by_id: UUID | None
    last_updated_source: Source
    last_updated_ai_chat_id: UUID | None
    created_at: datetime

    @classmethod
    def of(cls, row: PageHistory) -> "VersionItem":
        return cls.model_validate(
            {
                "version": row.version,
                "title": row.title,
                "last_updated_by_id": row.last_updated_by_id,
                "last_updated_source": row.last_updated_source,
                "last_updated_ai_chat_id": row.last_updated_ai_chat_id,
                "created_at": row.created_at,
            }
        )


class VersionList(ApiModel):
    items: list[VersionItem]
    next_cursor: str | None = None
