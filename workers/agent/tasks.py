"""The chat queue's task: one attempt at a turn."""

from shared.bus.jobs import RunTurn
from workers.agent.attempt import attempt
from workers.agent.background import keeper
from workers.runtime import app_task, current


@app_task(RunTurn)
async def run_turn(job: RunTurn) -> None:
    await attempt(current(), keeper(), job.turn_id)
