"""The account of calls of models: a row before each call, closed after it."""

import time
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat.models import Generation
from shared.core.ids import new_id
from shared.providers.models import CatalogueModel

Kind = Literal["title", "summary", "embedding", "test"]
Object = Literal["chat", "page", "search"]


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens; None: nobody said, and then it counts as nothing."""

    input: Decimal | None = None
    output: Decimal | None = None

    def cents(self, input_tokens: int, output_tokens: int) -> Decimal:
        """The cost of a call in US cents."""
        dollars = (self.input or 0) * input_tokens + (self.output or 0) * output_tokens
        return Decimal(dollars) * 100 / 1_000_000


def price_of(entry: CatalogueModel | None) -> Price:
    """The prices that the catalogue knows."""
    return Price() if entry is None else Price(entry.input_price, entry.output_price)


@dataclass(slots=True)
class OpenGeneration:
    """A call that has begun."""

    id: UUID
    price: Price
    begun: float = field(default_factory=time.monotonic)


async def begin(
    session: AsyncSession,
    *,
    workspace_id: UUID,
    kind: Kind,
    driver: str,
    model: str,
    price: Price,
    user_id: UUID | None = None,
    chat_id: UUID | None = None,
    object: Object = "chat",  # noqa: A002 - as the column is called
    settings_version: int | None = None,
) -> OpenGeneration:
    """Account for a call that is about to be made, beside a turn's own."""
    row = Generation(
        id=new_id(),
        workspace_id=workspace_id,
        user_id=user_id,
        chat_id=chat_id,
        object=object,
        type=kind,
        driver=driver,
        model=model,
        settings_version=settings_version,
    )
    session.add(row)
    await session.flush()
    return OpenGeneration(row.id, price)


async def end(
    session: AsyncSession,
    opened: OpenGeneration,
    *,
    input_tokens: int,
    output_tokens: int,
    error_code: str | None = None,
) -> None:
    """Close it. A row that a sweep has closed meanwhile stays as it is."""
    await session.execute(
        update(Generation)
        .where(Generation.id == opened.id, Generation.status == "pending")
        .values(
            status="success" if error_code is None else "error",
            error_code=error_code,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_in_cents=opened.price.cents(input_tokens, output_tokens),
            time_ms=round((time.monotonic() - opened.begun) * 1000),
            finished_at=func.now(),
        )
        .execution_options(synchronize_session=False)
    )


async def failed_lately(
    session: AsyncSession, chat_id: UUID, kind: Kind, *, seconds: float
) -> bool:
    """Whether the chat's newest call of this kind failed within the last `seconds`."""
    since = func.now() - timedelta(seconds=seconds)
    newest = (
        await session.execute(
            select(Generation.status, Generation.created_at > since)
            .where(Generation.chat_id == chat_id, Generation.type == kind)
            .order_by(Generation.created_at.desc())
            .limit(1)
        )
    ).first()
    return newest is not None and newest[0] == "error" and bool(newest[1])
