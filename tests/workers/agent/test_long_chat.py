"""A chat of two hundred turns with a small window: what each request weighs."""

import sys
from typing import Any

import pytest

from shared.providers.models import AiSettings
from tests.factories.saved_pages import make_page
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from tests.workers.agent.test_window import unpaired
from workers.agent import window
from workers.llm.base import ModelRequest, ToolMessage, UserMessage

WINDOW = 8_000
TURNS = 200


def weight(request: ModelRequest) -> int:
    """Tokens of a whole request."""
    return window.fixed(request.system, request.tools) + window.size(request.messages)


@pytest.mark.slow
@pytest.mark.req("CH-13")
async def test_every_request_of_a_long_chat_fits_and_keeps_its_pairs(
    stage: Stage, world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    async with stage.database.session() as session:
        ai = await session.get_one(AiSettings, world.workspace_id)
        ai.context_window = WINDOW
    page = str((await make_page(stage.database, world, "Long", "word " * 12_000)).id)
    rows, summaries = [], 0
    for number in range(TURNS):
        question = f"Question {number}: " + "tell me more about this " * (number % 40)
        answer = say(f"Answer {number}: " + "as the page says " * (number % 60))
        script = [call(("getPage", {"pageId": page})), answer] if number % 3 == 0 else [answer]
        model = ScriptedModel(script, small=say("They asked and were told. " * 40))
        turn_id = await stage.ask(world.actor("writer"), question, model, alias="c")
        assert (await stage.turn(turn_id)).status == "completed"
        summaries += len(model.small_requests)
        for request in model.requests:
            assert unpaired(request.messages) == []
            assert UserMessage(question) in request.messages
            rows.append((number, weight(request), len(request.messages)))
        results = [m for m in model.requests[-1].messages if isinstance(m, ToolMessage)]
        assert all(len(m.content) < 40_000 for m in results)
    heaviest = max(weight for _, weight, _ in rows)
    told = [
        f"{len(rows)} requests in {TURNS} turns, window {WINDOW}; turn:tokens,messages",
        "  ".join(f"{n}:{w},{m}" for n, w, m in rows[:: max(1, len(rows) // 24)]),
        f"heaviest {heaviest}, lightest {min(w for _, w, _ in rows)}, summaries {summaries}",
    ]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(told) + "\n")
    assert heaviest <= WINDOW - 2_000  # a quarter is left for the answer
