"""The passage of each found page that answers best."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    REAL,
    ColumnElement,
    Integer,
    and_,
    case,
    column,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import TSQUERY, distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from shared.search.models import PageEmbedding
from shared.search.repository import as_queries
from shared.search.vectors import QueryVector, distance, of_model
from shared.wiki.models import Page, PageIndex


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of the version that the page has now."""

    content: str
    heading_path: tuple[str, ...]
    block_ids: tuple[str, ...]


async def best_passages(
    session: AsyncSession,
    page_ids: Sequence[UUID],
    *,
    matches: Sequence[str],
    weights: Sequence[float],
    vector: QueryVector | None,
) -> dict[UUID, Passage]:
    """For each page the chunk that holds most of the terms by weight, and is nearest.

    `page_ids` are pages that the reader may see. A page whose chunks show an older version
    has none here.
    """
    score = _coverage(matches, weights)
    if vector is not None:
        # A page that the vector's model has not read yet shows a passage of the model before.
        score += case((and_(*of_model(vector)), 1 - distance(vector)), else_=0.0)
    shown = PageEmbedding.meta["version"].astext.cast(Integer)
    rows = await session.execute(
        select(
            PageEmbedding.page_id,
            PageEmbedding.content,
            PageEmbedding.heading_path,
            PageEmbedding.block_ids,
        )
        .join(Page, Page.id == PageEmbedding.page_id)
        .join(PageIndex, PageIndex.page_id == PageEmbedding.page_id)
        .where(PageEmbedding.page_id.in_(page_ids), shown == Page.version)
        .where(PageEmbedding.model_name == PageIndex.model_name)
        .ext(distinct_on(PageEmbedding.page_id))
        .order_by(PageEmbedding.page_id, score.desc(), PageEmbedding.chunk_index)
    )
    return {
        page_id: Passage(content, tuple(headings), tuple(blocks))
        for page_id, content, headings, blocks in rows
    }


def _coverage(matches: Sequence[str], weights: Sequence[float]) -> ColumnElement[float]:
    """The share of the terms' weight that a chunk holds, and a little for holding it often."""
    total = sum(weights)
    if total <= 0:
        return literal(0.0)
    term = (
        func.unnest(as_queries(matches), literal([w / total for w in weights], ARRAY(REAL)))
        .table_valued(column("query", TSQUERY), column("weight", REAL), name="term")
        .render_derived(name="term")
    )
    often = 1 + func.ts_rank(PageEmbedding.fts, term.c.query)
    held: ColumnElement[float] = (
        select(func.coalesce(func.sum(term.c.weight * often), 0.0))
        .select_from(term)
        .where(PageEmbedding.fts.bool_op("@@")(term.c.query))
        .scalar_subquery()
        .correlate(PageEmbedding)
    )
    return held
