"""Comparing a query's vector with the chunks of the same model."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pgvector.sqlalchemy import Vector
from sqlalchemy import REAL, ColumnElement, Select, cast, literal, literal_column, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.tunables import HNSW_EF_SEARCH, SEARCH_DEPTH, VECTOR_MIN_SIMILARITY
from shared.search.models import PageEmbedding
from shared.search.repository import Scope
from shared.wiki.models import Page


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's unit vector, and the model whose rows it can be compared with."""

    model_name: str
    values: Sequence[float]

    @property
    def dimensions(self) -> int:
        return len(self.values)


async def by_vector(session: AsyncSession, scope: Scope, vector: QueryVector) -> list[UUID]:
    """Pages by their nearest chunk, at least VECTOR_MIN_SIMILARITY near; none when the model
    has no rows of this dimension."""
    # Filters apply after the index scan: go on scanning until enough rows have passed.
    await session.execute(text("SET LOCAL hnsw.iterative_scan = relaxed_order"))
    await session.execute(text(f"SET LOCAL hnsw.ef_search = {HNSW_EF_SEARCH:d}"))
    best: dict[UUID, float] = {}
    for page_id, how_far in await session.execute(nearest(scope, vector)):
        if 1 - how_far >= VECTOR_MIN_SIMILARITY:
            best[page_id] = min(how_far, best.get(page_id, how_far))
    return sorted(best, key=lambda page_id: best[page_id])


def nearest(scope: Scope, vector: QueryVector) -> Select[UUID, float]:
    """The pages of the nearest chunks, with the chunks' distances."""
    far = distance(vector)
    return (
        select(PageEmbedding.page_id, far.label("far"))
        .join(Page, Page.id == PageEmbedding.page_id)
        .where(scope.pages(), *of_model(vector))
        .order_by(far)
        .limit(SEARCH_DEPTH)
    )


def distance(vector: QueryVector) -> ColumnElement[float]:
    """The cosine distance of a chunk, written as the index has it."""
    kind = Vector(vector.dimensions)
    return cast(PageEmbedding.embedding, kind).op("<=>", return_type=REAL())(
        cast(literal(list(vector.values), kind), kind)
    )


def of_model(vector: QueryVector) -> tuple[ColumnElement[bool], ...]:
    """The condition on chunks that they are the vector's model's."""
    # The dimension is written out: only a literal lets the planner choose the partial index.
    return (
        PageEmbedding.model_name == vector.model_name,
        PageEmbedding.model_dimensions == literal_column(f"{vector.dimensions:d}"),
    )
