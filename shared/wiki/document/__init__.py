"""Documents: ProseMirror JSON in, out, checked, compared and searched. No database, no network.

A document in normal form is what `validate` gives; everything else here takes that.
"""

from shared.wiki.document.check import validate, validate_async
from shared.wiki.document.editing import EditOutcome, TextEdit, edit_text
from shared.wiki.document.errors import InvalidDocumentError
from shared.wiki.document.ids import assign_ids, is_block_id, new_block_id, walk_blocks
from shared.wiki.document.markdown_in import (
    ParsedMarkdown,
    from_markdown,
    from_markdown_async,
    split_title,
)
from shared.wiki.document.markdown_out import to_markdown
from shared.wiki.document.matching import keep_ids
from shared.wiki.document.schema import EMPTY_DOC, SCHEMA, JsonDict
from shared.wiki.document.text import Block, blocks, to_text

__all__ = [
    "EMPTY_DOC",
    "SCHEMA",
    "Block",
    "EditOutcome",
    "InvalidDocumentError",
    "JsonDict",
    "ParsedMarkdown",
    "TextEdit",
    "assign_ids",
    "blocks",
    "edit_text",
    "from_markdown",
    "from_markdown_async",
    "is_block_id",
    "keep_ids",
    "new_block_id",
    "split_title",
    "to_markdown",
    "to_text",
    "validate",
    "validate_async",
    "walk_blocks",
]
