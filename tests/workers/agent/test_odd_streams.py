"""Odd streams through a whole turn: what the reader sees, what is stored, what the model is told
next. The outcome of each case is a line of docs/odd-streams.md, which is held to it.

To write the table anew: PAGETURN_WRITE_TABLES=1 pytest tests/workers/agent/test_odd_streams.py
"""

import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from shared.chat.models import Generation, ToolCall
from shared.core.settings import get_settings
from shared.providers.models import AiSettings, ProviderCredential
from tests.fakes.llm_script import says
from tests.fakes.llm_stub import LlmStub
from tests.fakes.turns import Stage
from tests.workers.llm.odd_streams import ODD_STREAMS, Odd
from workers.agent.attempt import attempt
from workers.runtime import Runtime

TABLE = Path(__file__).parents[3] / "docs" / "odd-streams.md"
HEAD = """\
# What becomes of odd streams

Each line is a case of `tests/workers/agent/test_odd_streams.py`: what a server sends, through a
whole turn. *Events* are the kinds of chunks that the browser gets (deltas of one part as one),
*rows* what is stored, *next* the roles of the request that carries it on. Every next request was
accepted by a server that refuses unpaired, repeated or nameless tool calls.

| case | events | rows | next request |
|---|---|---|---|
"""


@pytest.fixture
async def stub() -> AsyncIterator[LlmStub]:
    async with LlmStub(strict=True) as server:
        yield server
        server.assert_consumed()


@pytest.fixture
async def stage(database: object, redis: object, stub: LlmStub, world: Any) -> AsyncIterator[Stage]:
    """A worker whose workspace uses the stub."""
    settings = get_settings().model_copy(
        update={
            "private_models": True,
            "model_silence_seconds": 2.0,
            "model_retry_seconds": 0.001,
            "model_tail_seconds": 0.2,
        }
    )
    runtime = Runtime(settings)
    async with runtime.database.session() as session:
        ai = await session.get_one(AiSettings, world.workspace_id)
        ai.driver, ai.chat_model = "openai-compatible", "m"
        session.add(
            ProviderCredential(
                workspace_id=world.workspace_id, driver="openai-compatible", base_url=stub.url
            )
        )
    yield Stage(runtime)
    await runtime.close()


@dataclass(frozen=True)
class Outcome:
    """A case as a line of the table."""

    case: str
    events: str
    rows: str
    following: str

    def line(self) -> str:
        cells = (self.case, self.events, self.rows, self.following)
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


async def run(stage: Stage, turn_id: UUID) -> None:
    await attempt(stage.runtime, stage.keeper, turn_id)


async def play(stage: Stage, stub: LlmStub, actor: Any, odd: Odd) -> Outcome:
    """The odd answer, the step after it if it called tools, and another question."""
    stub.plays(*odd.replies)
    if goes_on(odd):
        stub.plays(says("Done."))
    turn_id = await stage.send(actor, "Q?", alias=odd.name, message_id="m1")
    await run(stage, turn_id)
    stub.plays(says("Yes."))
    await run(stage, await stage.send(actor, "And?", alias=odd.name, message_id="m2"))

    seen, answer = await stage.replay(turn_id), await stage.answer(turn_id)
    turn = await stage.turn(turn_id)
    async with stage.database.session() as session:
        made = select(ToolCall).where(ToolCall.turn_id == turn_id)
        calls = list(await session.scalars(made.order_by(ToolCall.step, ToolCall.ordinal)))
        row = await session.scalar(select(Generation).where(Generation.turn_id == turn_id))
    assert row is not None
    assert row.status == ("error" if turn.status == "error" else "success")
    stored = [f"turn {turn.status}" + (f" ({turn.error_code})" if turn.error_code else "")]
    if turn.finish_reason:
        stored.append(f"finish {turn.finish_reason}")
    stored += [f"call {c.name or '(no name)'}: {c.error_code or c.status}" for c in calls]
    stored.append(f"text {json.dumps(answer.content[:40])}" if answer.content else "no text")
    return Outcome(odd.name, " ".join(_kinds(seen)), ", ".join(stored), _roles(stub))


def goes_on(odd: Odd) -> bool:
    return bool(odd.said.calls) and odd.said.error is None


def _kinds(seen: Any) -> list[str]:
    """Kinds of chunks without what every turn has; repeated deltas once."""
    kinds: list[str] = []
    for kind in seen.kinds():
        if kind not in ("start", "start-step", "finish-step") and kinds[-1:] != [kind]:
            kinds.append(kind)
    return kinds


def _roles(stub: LlmStub) -> str:
    """The messages of the newest request, with the calls that an assistant's carries."""
    told = []
    for message in stub.chats[-1].messages[1:]:
        calls = message.get("tool_calls") or []
        names = "+".join(call["function"]["name"] or "(no name)" for call in calls)
        told.append(f"{message['role']}({names})" if names else message["role"])
    return " ".join(told)


@pytest.fixture(scope="module")
def table() -> dict[str, str]:
    """Lines of the committed table by case."""
    lines = TABLE.read_text().splitlines() if TABLE.exists() else []
    rows = [line for line in lines if line.startswith("| ")][1:]
    return {line.split(" | ")[0].removeprefix("| "): line for line in rows}


@pytest.fixture(scope="module")
def written() -> Any:
    """Collects the lines; writes them at the end when asked to."""
    lines: list[str] = []
    yield lines
    if os.environ.get("PAGETURN_WRITE_TABLES"):
        TABLE.write_text(HEAD + "\n".join(lines) + "\n")


@pytest.mark.req("ST-12", "ST-06")
@pytest.mark.parametrize("odd", ODD_STREAMS, ids=lambda odd: odd.name)
async def test_a_turn_copes_with_an_odd_stream_and_the_chat_goes_on(
    odd: Odd, stage: Stage, stub: LlmStub, world: Any, table: dict[str, str], written: list[str]
) -> None:
    outcome = await play(stage, stub, world.actor("writer"), odd)
    written.append(outcome.line())
    said = odd.said
    if said.error is not None:
        assert f"turn error ({said.error})" in outcome.rows
        assert outcome.events.endswith("message-metadata error")
    else:
        assert outcome.rows.startswith("turn completed")
        assert outcome.events.endswith("finish")
    if said.error is None and said.calls:
        assert outcome.rows.count("call ") == len(said.calls)
        assert outcome.following.count("tool ") == len(said.calls)
    if not os.environ.get("PAGETURN_WRITE_TABLES"):
        assert table.get(odd.name) == outcome.line(), "docs/odd-streams.md is stale"


def test_the_table_has_just_the_cases(table: dict[str, str]) -> None:
    assert list(table) == [odd.name for odd in ODD_STREAMS]
