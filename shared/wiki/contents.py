"""What a save brings: Markdown or a document, read into a document with an id on each block."""

import asyncio

from shared.core.tunables import DOCUMENT_OFFLOAD_BYTES
from shared.wiki.document import (
    EMPTY_DOC,
    JsonDict,
    assign_ids,
    from_markdown,
    keep_ids,
    to_text,
    validate_async,
    walk_blocks,
)
from shared.wiki.errors import TwoContentsError


async def read_content(*, content: object = None, markdown: str | None = None) -> JsonDict | None:
    """The document in normal form; None when neither is given.

    Raises TwoContentsError, InvalidDocumentError.
    """
    if content is not None and markdown is not None:
        raise TwoContentsError
    if content is not None:
        return await validate_async(content)
    if markdown is None:
        return None
    if len(markdown) > DOCUMENT_OFFLOAD_BYTES:
        parsed = await asyncio.to_thread(from_markdown, markdown)
    else:
        parsed = from_markdown(markdown)
    return await validate_async(parsed.doc)


async def with_ids(new: JsonDict | None, *, over: JsonDict | None = None) -> JsonDict:
    """The new document with an id on every block: its own, else those of the document that
    it is saved over where the block is the same. A document that brings none is matched."""
    if new is None:
        return assign_ids(EMPTY_DOC)
    if over is None or any(block["attrs"].get("id") for block in walk_blocks(new)):
        return assign_ids(new)
    return await asyncio.to_thread(keep_ids, over, new)


async def plain_text(document: JsonDict) -> str:
    """The text that is searched."""
    return await asyncio.to_thread(to_text, document)
