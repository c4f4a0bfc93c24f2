"""What a search answers with."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from api.schemas import ApiModel
from shared.search.service import SearchHit


class SearchItem(ApiModel):
    """A page and its best passage; `url` leads to the passage's first block."""

    page_id: UUID
    title: str
    space_id: UUID
    space_name: str
    space_slug: str
    slug_id: str
    snippet: str
    block_id: str | None
    heading_path: list[str]
    score: float
    url: str

    @classmethod
    def of(cls, hit: SearchHit) -> "SearchItem":
        return cls(
            page_id=hit.page_id,
            title=hit.title,
            space_id=hit.space_id,
            space_name=hit.space_name,
            space_slug=hit.space_slug,
            slug_id=hit.slug_id,
            snippet=hit.snippet,
            block_id=hit.block_id,
            heading_path=list(hit.heading_path),
            score=hit.score,
            url=hit.url,
        )


class SearchAnswer(ApiModel):
    """`mode` is `text` when the query's meaning could not be used; `note` then says so."""

    items: list[SearchItem]
    mode: Literal["hybrid", "text"]
    note: str | None = Field(default=None)
