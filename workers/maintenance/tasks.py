"""The clock's ticks. Each does no harm when it comes twice, or from two clocks."""

from shared.bus.jobs import FollowIndex, SweepExpired
from shared.search.vector_indexes import add_vector_indexes
from workers.maintenance.expiry import sweep_expired
from workers.maintenance.indexing import reconcile
from workers.runtime import app_task, current


@app_task(FollowIndex)
async def follow_index(_: FollowIndex) -> None:
    runtime = current()
    await reconcile(runtime)
    await add_vector_indexes(runtime.database)


@app_task(SweepExpired)
async def remove_expired(_: SweepExpired) -> None:
    await sweep_expired(current().database)
