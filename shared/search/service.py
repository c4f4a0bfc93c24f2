"""Searching pages by words and by meaning, as one person sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.permissions import require_space
from shared.core.tunables import SEARCH_LIMIT_DEFAULT
from shared.search import repository, terms
from shared.search.fusion import fuse
from shared.search.passages import Passage, best_passages
from shared.search.query import Query, parse
from shared.search.repository import PageRow, Scope
from shared.search.snippets import snippet
from shared.search.terms import Terms
from shared.search.vectors import QueryVector, by_vector
from shared.wiki.urls import page_url


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page and its best passage. `block_id` is the passage's first block; None, with no
    headings, while the index lags behind the page."""

    page_id: UUID
    title: str
    space_id: UUID
    space_name: str
    space_slug: str
    slug_id: str
    snippet: str
    block_id: str | None
    heading_path: tuple[str, ...]
    score: float
    url: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. `hybrid`: words and vectors; `text`: words alone."""

    hits: list[SearchHit]
    mode: Literal["hybrid", "text"]


@dataclass(frozen=True, slots=True)
class _Words:
    """The terms of a query, what each says, and the pages by them."""

    terms: Terms
    weights: Sequence[float]
    pages: list[UUID]


async def search(
    session: AsyncSession,
    actor: Actor,
    query: str,
    *,
    limit: int = SEARCH_LIMIT_DEFAULT,
    space_id: UUID | None = None,
    vector: QueryVector | None = None,
) -> SearchResult:
    """The pages that the actor may read, best first; none for a query without words.

    `vector` is the query's; without rows of its model and dimension the search is by words.
    Raises NotFoundError for a space the actor may not see.
    """
    if space_id is not None:
        await require_space(session, actor, space_id, "read")
    parsed = parse(query)
    mode: Literal["hybrid", "text"] = "text" if vector is None else "hybrid"
    if parsed.is_empty:
        return SearchResult([], mode)
    scope = Scope(actor, space_id)
    words = await _by_words(session, scope, parsed)
    scope = replace(scope, required=words.terms.required, excluded=words.terms.excluded)
    rankings = [words.pages]
    if parsed.grams:
        rankings.append(await repository.by_grams(session, scope, parsed.grams))
    if vector is not None:
        rankings.append(await by_vector(session, scope, vector))
    best = fuse(rankings)[:limit]
    hits = await _hits(session, scope, best, parsed, words, vector)
    return SearchResult(hits, mode)


async def _by_words(session: AsyncSession, scope: Scope, query: Query) -> _Words:
    lexemes = await repository.lexemes(session, [unit.text for unit in query.units])
    found = terms.build(query, lexemes)
    if not found.terms:
        return _Words(found, [], [])
    scope = replace(scope, required=found.required, excluded=found.excluded)
    statistics = await repository.statistics(session, scope, found)
    weights = terms.weights(statistics.holding, statistics.pages)
    candidates = terms.telling(found.terms, statistics.holding)
    if candidates is None:
        return _Words(found, weights, [])
    pages = await repository.by_text(
        session,
        scope,
        candidates=candidates,
        ranks=[term.rank for term in found.terms],
        weights=weights,
        mean_bytes=statistics.mean_bytes,
    )
    return _Words(found, weights, pages)


async def _hits(
    session: AsyncSession,
    scope: Scope,
    best: Sequence[tuple[UUID, float]],
    query: Query,
    words: _Words,
    vector: QueryVector | None,
) -> list[SearchHit]:
    page_ids = [page_id for page_id, _ in best]
    pages = await repository.page_rows(session, scope, page_ids)
    passages = await best_passages(
        session,
        page_ids,
        matches=[term.match for term in words.terms.terms],
        weights=words.weights,
        vector=vector,
    )
    needles = [*(term.needle for term in words.terms.terms), *query.grams]
    return [
        _hit(page_id, pages[page_id], passages.get(page_id), needles, score)
        for page_id, score in best
        if page_id in pages
    ]


def _hit(
    page_id: UUID, page: PageRow, passage: Passage | None, needles: Sequence[str], score: float
) -> SearchHit:
    block_id = passage.block_ids[0] if passage is not None and passage.block_ids else None
    return SearchHit(
        page_id=page_id,
        title=page.title,
        space_id=page.space_id,
        space_name=page.space_name,
        space_slug=page.space_slug,
        slug_id=page.slug_id,
        snippet=snippet(page.opening if passage is None else passage.content, needles),
        block_id=block_id,
        heading_path=() if passage is None else passage.heading_path,
        score=score,
        url=page_url(page.space_slug, page.title, page.slug_id, block_id),
    )
