"""Removing rows whose time is over, and closing generations that nobody will close."""

from sqlalchemy import delete, func, select, update

from shared.accounts.models import SignInLink
from shared.chat.models import ACTIVE, Generation, Turn
from shared.core.db import Database
from shared.providers.models import RpcRequest


async def sweep_expired(database: Database) -> None:
    """One transaction a table, so that no lock is held long."""
    async with database.session() as session:
        await session.execute(delete(RpcRequest).where(RpcRequest.expires_at < func.now()))
    async with database.session() as session:
        await session.execute(delete(SignInLink).where(SignInLink.expires_at < func.now()))
    async with database.session() as session:
        active = select(Turn.id).where(Turn.status.in_(ACTIVE))
        await session.execute(
            update(Generation)
            .where(
                Generation.status == "pending",
                Generation.turn_id.is_(None) | Generation.turn_id.not_in(active),
            )
            .values(status="error", finished_at=func.now())
        )
