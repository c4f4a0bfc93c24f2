"""Changing pages. Each change is made on the newest version, with the page locked, and becomes
a version of its own; the version before is how to undo it."""

import asyncio
from typing import Annotated, Any

from pydantic import Field, field_validator

from shared.core.tunables import (
    EDITS_SHOWN_CHARS,
    MAX_EDIT_CHARS,
    MAX_EDITS,
    MAX_MARKDOWN_CHARS,
    MAX_TITLE_CHARS,
)
from shared.tools.base import Tool, ToolArgs, ToolContext, ToolResult
from shared.tools.pages import PageId, page_head
from shared.wiki import service
from shared.wiki.contents import read_content
from shared.wiki.document import EditOutcome, JsonDict, TextEdit, edit_text
from shared.wiki.models import Page


class PageTextEdit(ToolArgs):
    find: Annotated[str, Field(description="The text as it reads on the page.")]
    replace: Annotated[str, Field(description="What stands there instead; may be empty.")]
    replace_all: Annotated[bool, Field(description="Wherever it stands, not just once.")] = False


class EditPageTextArgs(ToolArgs):
    page_id: PageId
    edits: Annotated[list[PageTextEdit], Field(min_length=1, max_length=MAX_EDITS)]

    @field_validator("edits")
    @classmethod
    def _bounded(cls, edits: list[PageTextEdit]) -> list[PageTextEdit]:
        if sum(len(edit.find) + len(edit.replace) for edit in edits) > MAX_EDIT_CHARS:
            raise ValueError(f"more than {MAX_EDIT_CHARS} characters in all")
        return edits


async def edit_page_text(context: ToolContext, args: EditPageTextArgs) -> ToolResult:
    page = await service.get_page(context.session, context.actor, args.page_id, "write", lock=True)
    before = page.version
    edits = [TextEdit(edit.find, edit.replace, edit.replace_all) for edit in args.edits]
    document, outcomes = await asyncio.to_thread(edit_text, page.content, edits)
    applied = [outcome for outcome in outcomes if outcome.reason is None]
    if applied:
        await service.update_page(context.session, context.actor, page.id, content=document)
    room = EDITS_SHOWN_CHARS // len(edits)
    return await _result(
        context,
        page,
        before,
        applied=[{"find": _shown(o, room), "replacements": o.replacements} for o in applied],
        failed=[{"find": _shown(o, room), "reason": o.reason} for o in outcomes if o.reason],
    )


def _shown(outcome: EditOutcome, room: int) -> str:
    find = outcome.edit.find
    return find if len(find) <= room else find[: room - 1] + "…"


class UpdatePageContentArgs(ToolArgs):
    page_id: PageId
    content: Annotated[
        str,
        Field(max_length=MAX_MARKDOWN_CHARS, description="The whole page in Markdown."),
    ]
    title: Annotated[
        str | None, Field(max_length=MAX_TITLE_CHARS, description="Absent: the title stays.")
    ] = None
    base_version: Annotated[
        int | None, Field(description="The version that the new content was made from.")
    ] = None


async def update_page_content(context: ToolContext, args: UpdatePageContentArgs) -> ToolResult:
    document = await read_content(markdown=args.content)  # not with the page locked
    page = await service.get_page(context.session, context.actor, args.page_id, "write", lock=True)
    before, old = page.version, page.content
    await service.update_page(
        context.session,
        context.actor,
        page.id,
        title=args.title,
        content=document,
        base_version=args.base_version,
    )
    applied = [_difference(old, page.content)] if page.version > before else []
    return await _result(context, page, before, applied=applied, failed=[])


def _difference(old: JsonDict, new: JsonDict) -> dict[str, int]:
    """How many top-level blocks are the same, have changed, have come and have gone."""
    olds = {block["attrs"]["id"]: block for block in old["content"]}
    news = {block["attrs"]["id"]: block for block in new["content"]}
    both = olds.keys() & news.keys()
    same = sum(olds[name] == news[name] for name in both)
    return {
        "blocksKept": same,
        "blocksChanged": len(both) - same,
        "blocksAdded": len(news) - len(both),
        "blocksRemoved": len(olds) - len(both),
    }


async def _result(
    context: ToolContext, page: Page, before: int, **done: list[dict[str, Any]]
) -> ToolResult:
    changed = page.version > before
    inverse = {"action": "restore_version", "pageId": str(page.id), "version": before}
    return ToolResult(
        {**await page_head(context, page), **done, "changed": changed},
        inverse=inverse if changed else None,
    )


EDIT_PAGE_TEXT = Tool(
    name="editPageText",
    title="Edit page",
    description=(
        "Change words on a page and leave everything else as it is. Each edit replaces `find`, "
        "plain text as it reads on the page, by `replace`. Formatting is passed over: where the "
        "page has 'foo **bar**', find 'foo bar'; the new text takes the formatting of what it "
        "replaces. `find` lies within one paragraph, heading, list item, table cell or code "
        "block, and is on the page just once unless replaceAll is set. `replace` is plain text "
        "too: Markdown in it is not read; a line break in it is one on the page. Edits are made "
        "in their order; one that fails does not hold up the others. The result says which were "
        "`applied`, which `failed` and why, and whether the page `changed`. To change "
        "formatting, blocks or the title use updatePageContent."
    ),
    args=EditPageTextArgs,
    run=edit_page_text,
    effect="write",
)
UPDATE_PAGE_CONTENT = Tool(
    name="updatePageContent",
    title="Rewrite page",
    description=(
        "Replace the whole content of a page by Markdown, and its title if one is given. Read "
        "the page first with getPage and give its version as baseVersion: the change is refused "
        "if the page has another version by then. Do not use it on a page that getPage gave "
        "only in part (`cut`). What is not in `content` is gone from the page; the person can "
        "go back to the version before. For a few words use editPageText. The result counts the "
        "blocks that were kept, changed, added and removed."
    ),
    args=UpdatePageContentArgs,
    run=update_page_content,
    effect="write",
)
