"""The SQL of searching. Every statement joins the live page and who may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    REAL,
    ColumnElement,
    Text,
    and_,
    cast,
    column,
    func,
    literal,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.accounts.models import Space
from shared.accounts.permissions import may_see
from shared.core.tunables import SEARCH_DEPTH, SNIPPET_TEXT_CHARS
from shared.search.terms import Terms
from shared.wiki.models import Page

# For D, C, B, A: the title's words count twice the body's. This and the share of the
# length in a score were chosen on a staff handbook and the Cranfield collection.
_WEIGHTS = cast(literal([0.1, 0.2, 0.5, 1.0], ARRAY(REAL)), ARRAY(REAL))
_BYTES = func.octet_length(Page.text_content)  # known without reading the text


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose eyes, where (a space, or all that the actor may read), and what is ruled out."""

    actor: Actor
    space_id: UUID | None = None
    required: str | None = None
    excluded: str | None = None

    def pages(self) -> ColumnElement[bool]:
        """The condition on `pages`."""
        conditions = [
            may_see(
                self.actor,
                workspace_id=Page.workspace_id,
                space_id=Page.space_id,
                deleted=Page.deleted_at.is_not(None),
            )
        ]
        if self.space_id is not None:
            conditions.append(Page.space_id == self.space_id)
        if self.required is not None:
            conditions.append(Page.tsv.bool_op("@@")(as_query(self.required)))
        if self.excluded is not None:
            conditions.append(~Page.tsv.bool_op("@@")(as_query(self.excluded)))
        return and_(*conditions)


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many pages there are to search, their mean size, and how many hold each term."""

    pages: int
    mean_bytes: float
    holding: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as it is now; `opening` is the beginning of its text."""

    title: str
    slug_id: str
    space_id: UUID
    space_name: str
    space_slug: str
    opening: str


def as_query(tsquery: str) -> ColumnElement[Any]:
    return cast(literal(tsquery, Text), TSQUERY)


def as_queries(tsqueries: Sequence[str]) -> ColumnElement[Any]:
    return cast(literal(list(tsqueries), ARRAY(Text)), ARRAY(TSQUERY))


async def lexemes(session: AsyncSession, texts: Sequence[str]) -> list[tuple[str, str]]:
    """For each text the tsquery text of its plain and of its stemmed form, words in order;
    no stemmed form marks a word that says nothing."""
    given = (
        func.unnest(literal(list(texts), ARRAY(Text)))
        .table_valued(column("phrase", Text), with_ordinality="place", name="given")
        .render_derived(name="given")
    )
    forms = [
        cast(
            func.phraseto_tsquery(literal_column(f"'{name}'"), func.pageturn_fold(given.c.phrase)),
            Text,
        )
        for name in ("simple", "russian")
    ]
    rows = await session.execute(select(*forms).select_from(given).order_by(given.c.place))
    return [(row[0], row[1]) for row in rows]


async def statistics(session: AsyncSession, scope: Scope, terms: Terms) -> Statistics:
    """Counts over the pages in scope."""
    overall = await session.execute(
        select(func.count().label("pages"), func.avg(_BYTES).label("mean")).where(scope.pages())
    )
    total = overall.one()
    term = (
        func.unnest(as_queries([t.match for t in terms.terms]))
        .table_valued(column("query", TSQUERY), with_ordinality="place", name="term")
        .render_derived(name="term")
    )
    holding = (
        select(func.count())
        .select_from(Page)
        .where(scope.pages(), Page.tsv.bool_op("@@")(term.c.query))
        .scalar_subquery()
        .correlate(term)
    )
    rows = await session.scalars(select(holding).select_from(term).order_by(term.c.place))
    return Statistics(total.pages, max(float(total.mean or 0), 1.0), tuple(rows))


async def by_text(
    session: AsyncSession,
    scope: Scope,
    *,
    candidates: str,
    ranks: Sequence[str],
    weights: Sequence[float],
    mean_bytes: float,
) -> list[UUID]:
    """Pages that match the tsquery text `candidates`, best first: for each term its weight
    times its rank in the page (which grows ever slower with repeats), less for long pages."""
    term = (
        func.unnest(as_queries(ranks), literal(list(weights), ARRAY(REAL)))
        .table_valued(column("query", TSQUERY), column("weight", REAL), name="term")
        .render_derived(name="term")
    )
    rank = (
        select(func.sum(term.c.weight * func.ts_rank(_WEIGHTS, Page.tsv, term.c.query)))
        .select_from(term)
        .scalar_subquery()
        .correlate(Page)
    )
    score = rank / (1 + 0.5 * func.ln(1 + _BYTES / mean_bytes))
    rows = await session.scalars(
        select(Page.id)
        .where(scope.pages(), Page.tsv.bool_op("@@")(as_query(candidates)))
        .order_by(score.desc(), Page.id)
        .limit(SEARCH_DEPTH)
    )
    return list(rows)


async def by_grams(session: AsyncSession, scope: Scope, grams: Sequence[str]) -> list[UUID]:
    """Pages with at least half of the grams, those in the title counting three times."""
    gram = (
        func.unnest(literal(list(grams), ARRAY(Text)))
        .table_valued(column("gram", Text), name="given")
        .render_derived(name="given")
    )
    in_title = func.strpos(func.lower(Page.title), gram.c.gram) > 0
    in_text = func.strpos(func.lower(Page.text_content), gram.c.gram) > 0
    found = (
        select(
            func.count().filter(in_title | in_text).label("found"),
            (3 * func.count().filter(in_title) + func.count().filter(in_text)).label("score"),
        )
        .select_from(gram)
        .correlate(Page)
        .lateral("found")
    )
    rows = await session.scalars(
        select(Page.id)
        .join(found, literal_column("true"))
        .where(scope.pages(), found.c.found * 2 >= len(grams))
        .order_by(found.c.score.desc(), Page.id)
        .limit(SEARCH_DEPTH)
    )
    return list(rows)


async def page_rows(
    session: AsyncSession, scope: Scope, page_ids: Sequence[UUID]
) -> dict[UUID, PageRow]:
    """What to show of the pages, by id."""
    opening = func.left(Page.text_content, SNIPPET_TEXT_CHARS)
    rows = await session.execute(
        select(Page.id, Page.title, Page.slug_id, Space.id, Space.name, Space.slug, opening)
        .join(Space, Space.id == Page.space_id)
        .where(scope.pages(), Page.id.in_(page_ids))
    )
    return {page_id: PageRow(*rest) for page_id, *rest in rows}
