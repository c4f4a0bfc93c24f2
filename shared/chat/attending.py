"""Whether somebody follows a turn, where a workspace stops turns that nobody follows.

Every API process says once a second which turns its readers follow; whoever dies says nothing
any more, and so a turn counts as left alone in the end, whatever became of its readers.
"""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat.models import ACTIVE, StopReason, Turn
from shared.chat.stopping import request_stop
from shared.core.tunables import ATTENDED_SLACK_SECONDS, REAPER_BATCH
from shared.providers.models import AiSettings


async def attend(session: AsyncSession, turn_ids: Collection[UUID]) -> None:
    """Note that these turns are followed now; those that go on by themselves are left alone."""
    rows = (
        select(Turn.id)
        .join(AiSettings, AiSettings.workspace_id == Turn.workspace_id)
        .where(
            Turn.id.in_(turn_ids),
            Turn.status.in_(ACTIVE),
            AiSettings.on_disconnect == "cancel",
        )
        .with_for_update(skip_locked=True, key_share=True, of=Turn)
    )
    await session.execute(
        update(Turn)
        .where(Turn.id.in_(rows))
        .values(attended_at=func.now())
        .execution_options(synchronize_session=False)
    )


async def stop_unattended(session: AsyncSession) -> list[Turn]:
    """Ask the turns to stop that nobody has followed for their workspace's grace period.

    Those of them that were queued have ended; the caller wakes the workers of the others.
    """
    seen = func.coalesce(Turn.attended_at, Turn.created_at)
    grace = (AiSettings.disconnect_grace_seconds + ATTENDED_SLACK_SECONDS) * timedelta(seconds=1)
    chats = await session.scalars(
        select(Turn.chat_id)
        .join(AiSettings, AiSettings.workspace_id == Turn.workspace_id)
        .where(
            Turn.status.in_(ACTIVE),
            Turn.stop_requested_at.is_(None),
            AiSettings.on_disconnect == "cancel",
            seen < func.now() - grace,
        )
        .limit(REAPER_BATCH)
    )
    stopped = [await request_stop(session, chat, StopReason.UNATTENDED) for chat in chats.all()]
    return [turn for turn in stopped if turn is not None]
