"""Finding pages whose index lags behind them: a message was lost, or a try failed."""

from collections.abc import Callable

from shared.bus.jobs import PageEvent, PageUpdated, enqueue
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.core.tunables import INDEX_SWEEP_BATCH
from shared.search.lagging import add_missing_rows, take_lagging
from workers.llm.embeddings import EmbeddingUnavailableError, local_embedder


async def reconcile(
    database: Database,
    *,
    model_name: str | None = None,
    send: Callable[[PageEvent], None] = enqueue,
) -> int:
    """Enqueue what should be indexed again and has rested long enough; how many pages.

    Harmless beside another reconciler: rows that one looks at are skipped by the other,
    and taking a row starts its next, longer pause.
    """
    async with database.session() as session:
        await add_missing_rows(session, limit=INDEX_SWEEP_BATCH)
    async with database.session() as session:
        pages = await take_lagging(
            session, model_name=model_name or _current_model(), limit=INDEX_SWEEP_BATCH
        )
    # After the commit: who reads the job must find the row as it is now.
    for page_id in pages:
        send(PageUpdated(page_id=page_id))
    return len(pages)


def _current_model() -> str | None:
    try:
        return local_embedder(get_settings()).name
    except EmbeddingUnavailableError:
        return None
