"""An HNSW index for each dimension that vectors have.

The migrations make the one for the local model; the others are made here, when the first rows
of a dimension are there. Without an index a search is exact and reads every row of its model,
which is so above MAX_INDEXED_DIMENSIONS and beyond VECTOR_INDEXES (docs/decisions/0011).
"""

import re
from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.core.db import Database
from shared.core.logging import get_logger
from shared.core.tunables import MAX_INDEXED_DIMENSIONS, VECTOR_INDEX_SECONDS, VECTOR_INDEXES

log = get_logger(__name__)

_LOCK = "vector-indexes"
_NAME = re.compile(r"ix_page_embeddings_hnsw_(\d+)")

# One row a model is looked at, by the index on workspace and model.
_DIMENSIONS = text("""
    SELECT DISTINCT found.model_dimensions
      FROM (SELECT DISTINCT workspace_id, model_name FROM page_index WHERE chunks > 0) AS model
     CROSS JOIN LATERAL (
           SELECT model_dimensions FROM page_embeddings
            WHERE workspace_id = model.workspace_id AND model_name = model.model_name
            LIMIT 1) AS found
     WHERE found.model_dimensions <= :most
     ORDER BY 1
""")
_INDEXES = text("""
    SELECT class.relname, index.indisvalid
      FROM pg_index AS index JOIN pg_class AS class ON class.oid = index.indexrelid
     WHERE index.indrelid = 'page_embeddings'::regclass
""")


async def add_vector_indexes(database: Database) -> list[int]:
    """Make what is missing; the dimensions whose index was made now.

    Reads and writes of the table go on meanwhile. Of several callers at once one does it. What
    a killed caller left behind is not valid, and is made again.
    """
    async with database.engine.connect() as connection:
        if not await _missing(connection):
            return []
    async with database.engine.connect() as connection:
        # No index is built beside others in a transaction.
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        try:
            return await _add(connection)
        finally:
            # The lock and the time limit are the connection's, and go with it.
            await connection.invalidate()


async def _add(connection: AsyncConnection) -> list[int]:
    locked = "SELECT pg_try_advisory_lock(hashtextextended(:name, 0))"
    if not await connection.scalar(text(locked), {"name": _LOCK}):
        return []
    milliseconds = int(VECTOR_INDEX_SECONDS * 1000)
    await connection.execute(text(f"SET statement_timeout = {milliseconds:d}"))
    missing = await _missing(connection)  # another caller may just have been faster
    for dimensions in missing:
        await connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {_name(dimensions)}"))
        await connection.execute(
            text(
                f"CREATE INDEX CONCURRENTLY {_name(dimensions)} ON page_embeddings "
                f"USING hnsw ((embedding::vector({dimensions:d})) vector_cosine_ops) "
                f"WHERE model_dimensions = {dimensions:d}"
            )
        )
        log.info("vector_index_added", dimensions=dimensions)
    return missing


async def _missing(connection: AsyncConnection) -> list[int]:
    """The dimensions that have rows and no valid index, as many as may have one."""
    present: Sequence[int] = (
        await connection.scalars(_DIMENSIONS, {"most": MAX_INDEXED_DIMENSIONS})
    ).all()
    indexed = {
        int(match[1])
        for name, valid in await connection.execute(_INDEXES)
        if valid and (match := _NAME.fullmatch(name))
    }
    room = max(0, VECTOR_INDEXES - len(indexed))
    return [dimensions for dimensions in present if dimensions not in indexed][:room]


def _name(dimensions: int) -> str:
    return f"ix_page_embeddings_hnsw_{dimensions:d}"
