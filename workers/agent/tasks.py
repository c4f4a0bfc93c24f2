"""The chat queue's tasks: one attempt at a turn, and a chat's title."""

from shared.bus.jobs import MakeTitle, RunTurn
from workers.agent.attempt import attempt
from workers.agent.background import keeper
from workers.agent.titles import make_title
from workers.runtime import app_task, current


@app_task(RunTurn)
async def run_turn(job: RunTurn) -> None:
    await attempt(current(), keeper(), job.turn_id)


@app_task(MakeTitle)
async def title_chat(job: MakeTitle) -> None:
    await make_title(current(), job.chat_id)
