"""A page's index by the model that its workspace has chosen, one run a page at a time."""

from uuid import UUID

from shared.search.index_repository import workspace_of
from workers.indexing.indexer import IndexResult, index_page
from workers.llm.workspace_embeddings import embedder_for, workspace_models
from workers.runtime import Runtime

# The pages that this process is at, each with whether it was wanted again meanwhile: a person
# who types saves often, and each run at once would pay for the same passages.
_at_work: dict[UUID, bool] = {}


async def follow_page(runtime: Runtime, page_id: UUID) -> IndexResult:
    """Make the index hold the page as it is, by the settings of now. `superseded`: a run that
    is under way does it."""
    if page_id in _at_work:
        _at_work[page_id] = True
        return IndexResult("superseded")
    _at_work[page_id] = True
    try:
        while _at_work[page_id]:
            _at_work[page_id] = False
            result = await _follow(runtime, page_id)
        return result
    finally:
        del _at_work[page_id]


async def _follow(runtime: Runtime, page_id: UUID) -> IndexResult:
    async with runtime.database.session() as session:
        workspace_id = await workspace_of(session, page_id)
        if workspace_id is None:
            return IndexResult("gone")
        models = await workspace_models(session, runtime, workspace_id)
    for model in models:
        async with embedder_for(runtime, model, "page") as embedder:
            return await index_page(runtime.database, embedder, page_id)
    return IndexResult("gone")
