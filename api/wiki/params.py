"""What the addresses of pages hold."""

from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import AfterValidator

from shared.wiki.urls import resolve_slug


def _page_ref(value: str) -> UUID | str:
    try:
        return UUID(value)
    except ValueError:
        if resolve_slug(value) != value:
            raise ValueError("must be a page's id or slug id") from None
        return value


PageRef = Annotated[
    str, AfterValidator(_page_ref), Path(description="A page's id, or its slug id.")
]
