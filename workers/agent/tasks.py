"""The chat worker's tasks: one attempt at a turn, a chat's title and what waits in it, the test
of a provider."""

from shared.bus.jobs import MakeTitle, RunTurn, SendQueued, TestProvider
from workers.agent.attempt import attempt
from workers.agent.background import keeper
from workers.agent.queued import send_next
from workers.agent.titles import make_title
from workers.llm.probing import answer_probe
from workers.runtime import app_task, current


@app_task(RunTurn)
async def run_turn(job: RunTurn) -> None:
    await attempt(current(), keeper(), job.turn_id)


@app_task(MakeTitle)
async def title_chat(job: MakeTitle) -> None:
    await make_title(current(), job.chat_id)


@app_task(SendQueued)
async def send_queued(job: SendQueued) -> None:
    await send_next(current(), job.chat_id)


@app_task(TestProvider)
async def test_provider(job: TestProvider) -> None:
    await answer_probe(current(), job.request_id)
