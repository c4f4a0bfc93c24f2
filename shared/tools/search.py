"""Finding pages."""

from typing import Annotated

from pydantic import Field

from shared.search.service import search
from shared.tools.base import Tool, ToolArgs, ToolContext, ToolResult


class SearchPagesArgs(ToolArgs):
    query: Annotated[str, Field(min_length=1, max_length=1000, description="What to look for.")]
    limit: Annotated[int, Field(ge=1, le=20, description="How many pages at most.")] = 10


async def search_pages(context: ToolContext, args: SearchPagesArgs) -> ToolResult:
    found = await search(
        context.session,
        context.actor,
        args.query,
        limit=args.limit,
        vector=context.vector,
    )
    hits = [
        {
            "pageId": str(hit.page_id),
            "title": hit.title,
            "space": hit.space_name,
            "headings": list(hit.heading_path),
            "snippet": hit.snippet,
            "url": hit.url,
        }
        for hit in found.hits
    ]
    return ToolResult({"hits": hits, "mode": found.mode})


SEARCH_PAGES = Tool(
    name="searchPages",
    title="Search pages",
    description=(
        "Search the pages that the person may read, by words and by meaning. Each hit has "
        "the page's id, title, space, the best passage and its url. Cite a passage by a "
        "Markdown link to that url."
    ),
    args=SearchPagesArgs,
    run=search_pages,
    query=lambda args: args.query,
)
