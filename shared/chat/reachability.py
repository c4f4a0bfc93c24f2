"""What the last call of a workspace's chat model says of its provider."""

from dataclasses import dataclass

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat.models import Generation
from shared.providers.models import AiSettings
from shared.providers.reasons import REASONS


@dataclass(frozen=True, slots=True)
class LastCall:
    """`code` says what went wrong; None: nothing did."""

    code: str | None


async def last_call(session: AsyncSession, ai: AiSettings) -> LastCall | None:
    """The last chat or test under the settings as they are; None: there was none.

    Calls that failed for a reason of their own (too long a text, a lost worker) say nothing.
    """
    telling = or_(
        Generation.status == "success",
        and_(Generation.status == "error", Generation.error_code.in_(list(REASONS))),
    )
    row = (
        await session.execute(
            select(Generation.status, Generation.error_code)
            .where(
                Generation.workspace_id == ai.workspace_id,
                Generation.object == "chat",
                Generation.type.in_(("chat", "test")),
                Generation.settings_version == ai.version,
                telling,
            )
            .order_by(Generation.created_at.desc(), Generation.id.desc())
            .limit(1)
        )
    ).first()
    return None if row is None else LastCall(row.error_code if row.status == "error" else None)
