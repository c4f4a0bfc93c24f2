"""Embedding a query, in the one slot that this process keeps for it."""

import asyncio

from shared.core.logging import get_logger
from shared.search.vectors import QueryVector
from workers.llm.embeddings import EmbeddingUnavailableError, local_embedder
from workers.runtime import Runtime

log = get_logger(__name__)


async def embed_query(runtime: Runtime, text: str) -> QueryVector | None:
    """The query's vector; None when there is no embedding model here, and search is by text."""

    def embed() -> QueryVector:
        embedder = local_embedder(runtime.settings, threads=1)
        return QueryVector(embedder.name, embedder.embed([text])[0])

    try:
        return await asyncio.get_running_loop().run_in_executor(runtime.query_slot, embed)
    except EmbeddingUnavailableError as error:
        log.warning("query_not_embedded", error=error.code)
        return None
