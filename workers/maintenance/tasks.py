"""The clock's ticks. Each does no harm when it comes twice, or from two clocks."""

from shared.bus.jobs import FollowIndex, SweepExpired
from shared.core.tunables import FOLLOW_INDEX_SECONDS, SWEEP_EXPIRED_SECONDS
from shared.search.vector_indexes import add_vector_indexes
from workers.maintenance.expiry import sweep_expired
from workers.maintenance.indexing import reconcile
from workers.maintenance.ticking import due
from workers.runtime import app_task, current


@app_task(FollowIndex)
async def follow_index(_: FollowIndex) -> None:
    runtime = current()
    if await due(runtime.redis, FollowIndex, FOLLOW_INDEX_SECONDS):
        await reconcile(runtime)
        await add_vector_indexes(runtime.database)


@app_task(SweepExpired)
async def remove_expired(_: SweepExpired) -> None:
    runtime = current()
    if await due(runtime.redis, SweepExpired, SWEEP_EXPIRED_SECONDS):
        await sweep_expired(runtime.database)
