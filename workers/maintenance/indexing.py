"""Finding pages whose index lags behind them: a message was lost, a try failed, or the
workspace chose another model."""

from collections.abc import Callable

from shared.bus.jobs import PageEvent, PageUpdated, enqueue
from shared.core.tunables import INDEX_SWEEP_BATCH
from shared.search.lagging import add_missing_rows, fail_lagging, take_lagging
from workers.llm.workspace_embeddings import workspace_models
from workers.runtime import Runtime


async def reconcile(runtime: Runtime, *, send: Callable[[PageEvent], None] = enqueue) -> int:
    """Enqueue what should be indexed again and has rested long enough; how many pages.

    Pages of a workspace that cannot embed now say why and wait. Harmless beside another
    reconciler: rows that one looks at are skipped by the other, and taking a row starts its
    next, longer pause.
    """
    async with runtime.database.session() as session:
        await add_missing_rows(session, limit=INDEX_SWEEP_BATCH)
    async with runtime.database.session() as session:
        models = await workspace_models(session, runtime)
    for model in models:
        if model.obstacle is not None:
            async with runtime.database.session() as session:
                await fail_lagging(session, model.chosen.workspace_id, model.name, model.obstacle)
    wanted = {m.chosen.workspace_id: m.name for m in models if m.obstacle is None}
    async with runtime.database.session() as session:
        pages = await take_lagging(session, wanted=wanted, limit=INDEX_SWEEP_BATCH)
    # After the commit: who reads the job must find the row as it is now.
    for page_id in pages:
        send(PageUpdated(page_id=page_id))
    return len(pages)
