"""When a provider of embeddings is left alone: what one refused, it refuses to each page.

What is known stands in the account of calls, so that all workers know it, and a change of the
settings makes it void.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat.models import Generation
from shared.core.tunables import (
    EMBED_FAILED_RUNS,
    EMBED_FAILED_SECONDS,
    EMBED_REFUSED_SECONDS,
    GENERATION_LOST_SECONDS,
)
from shared.providers.reasons import REASONS

REFUSALS = frozenset({"provider_auth", "provider_quota", "model_not_found"})


async def pause_reason(session: AsyncSession, workspace_id: UUID, version: int) -> str | None:
    """Why the provider is not called now, in a sentence; None: it is.

    Under one version of the settings a refusal counts for EMBED_REFUSED_SECONDS, and
    EMBED_FAILED_RUNS failures in a row for EMBED_FAILED_SECONDS.
    """
    recent = func.now() - timedelta(seconds=EMBED_FAILED_SECONDS)
    rows = (
        await session.execute(
            select(Generation.error_code, Generation.finished_at > recent)
            .where(
                Generation.workspace_id == workspace_id,
                # A row is as old as its call may be; this bound is for the index.
                Generation.created_at
                > func.now() - timedelta(seconds=EMBED_REFUSED_SECONDS + GENERATION_LOST_SECONDS),
                Generation.finished_at > func.now() - timedelta(seconds=EMBED_REFUSED_SECONDS),
                Generation.type == "embedding",
                Generation.settings_version == version,
                Generation.error_code.is_distinct_from("lost"),
            )
            .order_by(Generation.finished_at.desc())
            .limit(EMBED_FAILED_RUNS)
        )
    ).all()
    if not rows:
        return None
    last: str | None = rows[0][0]
    if last in REFUSALS or (
        len(rows) == EMBED_FAILED_RUNS and rows[0][1] and all(code for code, _ in rows)
    ):
        return REASONS.get(last or "", REASONS["provider_error"])
    return None
