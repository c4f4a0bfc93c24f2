"""What nobody will close is closed, and what has expired goes; both only when it is time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from sqlalchemy import select

from shared.chat.generations import Price, begin, end
from shared.chat.models import Generation
from shared.core.db import Database
from shared.core.tunables import GENERATION_LOST_SECONDS
from tests.factories.world import World
from workers.maintenance.expiry import sweep_expired


@pytest.mark.req("MN-05")
async def test_a_call_whose_worker_is_gone_is_closed_as_lost_and_a_young_one_is_not(
    database: Database, world: World
) -> None:
    async with database.session() as session:
        young, old = [
            await begin(
                session,
                workspace_id=world.workspace_id,
                kind="embedding",
                object="page",
                driver="ollama",
                model="m",
                price=Price(),
            )
            for _ in range(2)
        ]
        row = await session.get_one(Generation, old.id)
        row.created_at = datetime.now(UTC) - timedelta(seconds=GENERATION_LOST_SECONDS + 1)
    await sweep_expired(database)
    async with database.session() as session:
        found = {g.id: g for g in await session.scalars(select(Generation))}
        assert (found[young.id].status, found[young.id].finished_at) == ("pending", None)
        assert (found[old.id].status, found[old.id].error_code) == ("error", "lost")
        assert found[old.id].finished_at is not None
        # A late end does not bring it back.
        await end(session, old, input_tokens=5, output_tokens=0)
    async with database.session() as session:
        assert (await session.get_one(Generation, old.id)).status == "error"
        assert (await session.get_one(Generation, old.id)).cost_in_cents == Decimal(0)
