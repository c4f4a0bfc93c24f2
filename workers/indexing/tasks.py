"""Page events, which all mean the same (make the index follow the page), and queries."""

from shared.bus.jobs import (
    EmbedQuery,
    PageCreated,
    PageEvent,
    PageMoved,
    PageRestored,
    PageTrashed,
    PageUpdated,
)
from shared.search.query_vector import answer_request, take_request
from workers.indexing.following import follow_page
from workers.llm.query import embed_query
from workers.runtime import app_task, current


async def _follow(event: PageEvent) -> None:
    await follow_page(current(), event.page_id)


@app_task(PageCreated)
async def page_created(event: PageCreated) -> None:
    await _follow(event)


@app_task(PageUpdated)
async def page_updated(event: PageUpdated) -> None:
    await _follow(event)


@app_task(PageMoved)
async def page_moved(event: PageMoved) -> None:
    await _follow(event)


@app_task(PageTrashed)
async def page_trashed(event: PageTrashed) -> None:
    await _follow(event)


@app_task(PageRestored)
async def page_restored(event: PageRestored) -> None:
    await _follow(event)


@app_task(EmbedQuery)
async def answer_query(job: EmbedQuery) -> None:
    runtime = current()
    request = await take_request(runtime.database, runtime.secrets, job.request_id)
    if request is None:
        return
    vector = await embed_query(runtime, *request)
    name, values = (None, ()) if vector is None else (vector.model_name, vector.values)
    await answer_request(runtime.redis, job.request_id, name, values)
