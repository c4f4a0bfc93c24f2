"""A page's index by the model that its workspace has chosen."""

from uuid import UUID

from shared.search.index_repository import workspace_of
from workers.indexing.indexer import IndexResult, index_page
from workers.llm.workspace_embeddings import embedder_for, workspace_models
from workers.runtime import Runtime


async def follow_page(runtime: Runtime, page_id: UUID) -> IndexResult:
    """Make the index hold the page as it is, by the settings of now."""
    async with runtime.database.session() as session:
        workspace_id = await workspace_of(session, page_id)
        if workspace_id is None:
            return IndexResult("gone")
        models = await workspace_models(session, runtime, workspace_id)
    for model in models:
        async with embedder_for(runtime, model, "page") as embedder:
            return await index_page(runtime.database, embedder, page_id)
    return IndexResult("gone")
