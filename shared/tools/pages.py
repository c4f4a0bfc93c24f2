"""Reading and writing pages."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from shared.accounts.permissions import require_space
from shared.core.errors import InvalidInputError, NotFoundError
from shared.core.tunables import MAX_TITLE_CHARS, TREE_TOOL_MAX_PAGES
from shared.tools.base import Tool, ToolArgs, ToolContext, ToolResult
from shared.wiki import service
from shared.wiki.document import to_markdown
from shared.wiki.models import Page
from shared.wiki.urls import page_url

PageId = Annotated[UUID, Field(description="The page's id.")]


async def page_head(context: ToolContext, page: Page) -> dict[str, Any]:
    """What every tool tells of the page that it read or wrote."""
    space = await service.get_space(context.session, page.space_id)
    return {
        "pageId": str(page.id),
        "title": page.title,
        "url": page_url(space.slug, page.title, page.slug_id),
        "version": page.version,
    }


class GetPageArgs(ToolArgs):
    page_id: PageId
    block_ids: Annotated[
        bool,
        Field(
            description="Put a line [#id] before each block. The page's url followed by #id "
            "then cites that block."
        ),
    ] = False


async def get_page(context: ToolContext, args: GetPageArgs) -> ToolResult:
    page = await service.get_page(context.session, context.actor, args.page_id)
    space = await service.get_space(context.session, page.space_id)
    return ToolResult(
        {
            **await page_head(context, page),
            "space": space.name,
            "spaceId": str(page.space_id),
            "updatedAt": page.updated_at.isoformat(),
            "markdown": to_markdown(page.content, block_ids=args.block_ids),
        }
    )


class GetCurrentPageArgs(ToolArgs):
    pass


async def get_current_page(context: ToolContext, args: GetCurrentPageArgs) -> ToolResult:  # noqa: ARG001
    if context.page_id is None:
        return ToolResult({"page": None})
    try:
        found = await get_page(context, GetPageArgs(page_id=context.page_id))
    except NotFoundError:
        return ToolResult({"page": None})
    return ToolResult({"page": found.output})


class ListPagesArgs(ToolArgs):
    space_id: Annotated[UUID | None, Field(description="Only this space. Needed for the tree.")] = (
        None
    )
    limit: Annotated[int, Field(ge=1, le=100, description="How many pages at most.")] = 50
    tree: Annotated[bool, Field(description="As a tree of parents and children.")] = False


async def list_pages(context: ToolContext, args: ListPagesArgs) -> ToolResult:
    if args.tree and args.space_id is None:
        raise InvalidInputError("A tree is of one space: give spaceId.")
    if args.space_id is not None:
        await require_space(context.session, context.actor, args.space_id, "read")
    bound = TREE_TOOL_MAX_PAGES if args.tree else args.limit
    pages = await service.list_pages(
        context.session, context.actor, space_id=args.space_id, limit=bound + 1
    )
    shown = pages[:bound]
    rows = _as_tree(shown) if args.tree else [_row(page) for page in shown]
    return ToolResult({"pages": rows, "truncated": len(pages) > bound})


def _row(page: Page) -> dict[str, Any]:
    parent = None if page.parent_page_id is None else str(page.parent_page_id)
    return {
        "pageId": str(page.id),
        "title": page.title,
        "spaceId": str(page.space_id),
        "parentPageId": parent,
    }


def _as_tree(pages: list[Page]) -> list[dict[str, Any]]:
    """Children under their parents; a page whose parent is not shown stands at the top."""
    nodes: dict[UUID, dict[str, Any]] = {
        page.id: {"pageId": str(page.id), "title": page.title, "children": []}
        for page in sorted(pages, key=lambda page: page.position)
    }
    roots: list[dict[str, Any]] = []
    parents = {page.id: page.parent_page_id for page in pages}
    for page_id, node in nodes.items():
        parent = parents[page_id]
        above = nodes.get(parent) if parent is not None else None
        (roots if above is None else above["children"]).append(node)
    return roots


class CreatePageArgs(ToolArgs):
    space_id: Annotated[UUID, Field(description="The space of the new page.")]
    title: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)]
    content: Annotated[str, Field(description="The page's text in Markdown.")] = ""
    parent_page_id: Annotated[
        UUID | None, Field(description="The page to put it under; absent: the top level.")
    ] = None


async def create_page(context: ToolContext, args: CreatePageArgs) -> ToolResult:
    page = await service.create_page(
        context.session,
        context.actor,
        space_id=args.space_id,
        title=args.title,
        markdown=args.content,
        parent_page_id=args.parent_page_id,
    )
    return ToolResult(
        await page_head(context, page),
        inverse={"action": "trash_page", "pageId": str(page.id)},
    )


GET_PAGE = Tool(
    name="getPage",
    title="Read page",
    description="Read one page as Markdown, with its title, space, url and version.",
    args=GetPageArgs,
    run=get_page,
)
GET_CURRENT_PAGE = Tool(
    name="getCurrentPage",
    title="Read open page",
    description="Read the page that the person has open, or null when none is open.",
    args=GetCurrentPageArgs,
    run=get_current_page,
)
LIST_PAGES = Tool(
    name="listPages",
    title="List pages",
    description=(
        "List the pages that the person may read: newest first, or with tree the pages of "
        "one space as a tree. `truncated` says that there are more."
    ),
    args=ListPagesArgs,
    run=list_pages,
)
CREATE_PAGE = Tool(
    name="createPage",
    title="Create page",
    description="Create a page from Markdown. The person can undo it: it goes to the trash.",
    args=CreatePageArgs,
    run=create_page,
    effect="write",
)
