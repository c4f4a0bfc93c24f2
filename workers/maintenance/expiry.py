"""Removing rows whose time is over, and closing generations that nobody will close."""

from datetime import timedelta

from sqlalchemy import case, delete, func, select, update

from shared.accounts.models import SignInLink
from shared.chat.models import ACTIVE, Generation, Turn
from shared.core.db import Database
from shared.core.tunables import GENERATION_LOST_SECONDS
from shared.providers.models import RpcRequest


async def sweep_expired(database: Database) -> None:
    """One transaction a table, so that no lock is held long."""
    async with database.session() as session:
        await session.execute(delete(RpcRequest).where(RpcRequest.expires_at < func.now()))
    async with database.session() as session:
        await session.execute(delete(SignInLink).where(SignInLink.expires_at < func.now()))
    async with database.session() as session:
        active = select(Turn.id).where(Turn.status.in_(ACTIVE))
        old = Generation.created_at < func.now() - timedelta(seconds=GENERATION_LOST_SECONDS)
        await session.execute(
            update(Generation)
            .where(
                Generation.status == "pending",
                # A call beside the turns has nothing but its age to tell that its worker is gone.
                case((Generation.turn_id.is_(None), old), else_=Generation.turn_id.not_in(active)),
            )
            .values(status="error", error_code="lost", finished_at=func.now())
        )
