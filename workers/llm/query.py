"""Embedding a query by its workspace's model."""

from uuid import UUID

from shared.core.logging import get_logger
from shared.search.vectors import QueryVector
from workers.llm.embeddings import EmbeddingUnavailableError
from workers.llm.workspace_embeddings import embedder_for, workspace_models
from workers.runtime import Runtime

log = get_logger(__name__)


async def embed_query(runtime: Runtime, workspace_id: UUID, text: str) -> QueryVector | None:
    """The query's vector; None when there is none to be had now, and search is by words.

    Call it without an open session: it may wait for a provider.
    """
    async with runtime.database.session() as session:
        models = await workspace_models(session, runtime, workspace_id)
    try:
        for model in models:
            async with embedder_for(runtime, model, "search") as embedder:
                [vector] = await embedder.embed([text])
                return QueryVector(embedder.name, vector)
    except EmbeddingUnavailableError as error:
        log.warning("query_not_embedded", error=error.code, workspace_id=str(workspace_id))
    return None
