"""Searching pages by words and by meaning."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from api.deps import CurrentActor, SecretBoxDep, SessionDep, SettingsDep
from api.search.schemas import SearchAnswer, SearchItem
from shared.core.tunables import MAX_QUERY_CHARS, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX
from shared.providers.service import require_search
from shared.search.query import parse
from shared.search.query_vector import query_vector
from shared.search.service import search

router = APIRouter(tags=["search"])

BY_TEXT_ONLY = "Searched by words only: the embedding model did not answer in time."


@router.get("/search")
async def search_pages(
    request: Request,
    actor: CurrentActor,
    session: SessionDep,
    box: SecretBoxDep,
    settings: SettingsDep,
    q: Annotated[str, Query(max_length=MAX_QUERY_CHARS)],
    space_id: Annotated[UUID | None, Query(alias="spaceId")] = None,
    limit: Annotated[int, Query(ge=1, le=SEARCH_LIMIT_MAX)] = SEARCH_LIMIT_DEFAULT,
) -> SearchAnswer:
    """The pages that you may read, best first; 403 while search is switched off."""
    await require_search(session, actor.workspace_id)
    if parse(q).is_empty:
        return SearchAnswer(items=[], mode="text")
    # The connection goes back to the pool while a worker embeds the query.
    await session.commit()
    state = request.app.state
    vector = await query_vector(
        state.database,
        state.redis,
        box,
        actor.workspace_id,
        q,
        wait_seconds=settings.search_vector_seconds,
    )
    async with state.database.session() as reading:
        found = await search(
            reading,
            actor,
            q,
            limit=limit,
            space_id=space_id,
            vector=vector,
        )
    return SearchAnswer(
        items=[SearchItem.of(hit) for hit in found.hits],
        mode=found.mode,
        note=BY_TEXT_ONLY if found.mode == "text" else None,
    )
