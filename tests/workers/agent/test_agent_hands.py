"""As whom the agent acts, and what becomes of calls that leave for another system."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import func, select, update

from shared.accounts import service
from shared.accounts.models import User, UserSession
from shared.bus.stream import signal_stop
from shared.chat.models import Chat, ToolCall, Turn
from shared.chat.stopping import request_stop
from shared.core.db import Database
from shared.core.errors import UnauthenticatedError
from shared.tools import registry
from shared.tools.base import Effect, Tool, ToolArgs, ToolContext, ToolResult
from shared.wiki.models import Page
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage

Run = Callable[[ToolContext, ToolArgs], Awaitable[ToolResult]]


def offer(monkeypatch: pytest.MonkeyPatch, run: Run, **more: Any) -> None:
    """A further tool, called `act`, for the agent."""
    tool: Tool[Any] = Tool("act", "Act", "Does something.", ToolArgs, run, **more)
    monkeypatch.setattr(registry, "TOOLS", (*registry.TOOLS, tool))


async def end_session(database: Database, session_id: Any) -> None:
    async with database.session() as session:
        await session.execute(
            update(UserSession).where(UserSession.id == session_id).values(revoked_at=func.now())
        )


@pytest.mark.req("TG-06")
async def test_a_turn_may_take_longer_than_the_token_that_its_calls_are_made_by(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage.runtime.settings, "agent_token_seconds", 2.0)
    tokens: list[str] = []
    authenticate = service.authenticate_agent

    async def watch(session: Any, token: str) -> Any:
        tokens.append(token)
        return await authenticate(session, token)

    monkeypatch.setattr(service, "authenticate_agent", watch)

    async def slow(context: ToolContext, args: ToolArgs) -> ToolResult:
        async with asyncio.timeout(10):
            while await good(tokens[-1]):
                await asyncio.sleep(0.05)
        return ToolResult({})

    async def good(token: str) -> bool:
        async with stage.database.session() as session:
            try:
                return bool(await authenticate(session, token))
            except UnauthenticatedError:
                return False

    offer(monkeypatch, slow)
    model = ScriptedModel([call(("act", {})), call(("act", {})), call(("act", {})), say("Done.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    answer = await stage.answer(turn_id)
    assert [record["isError"] for record in answer.tool_calls] == [False] * 3
    assert len(set(tokens)) == 3
    assert not await good(tokens[0])


@pytest.mark.req("TG-06")
@pytest.mark.parametrize("effect", ["read", "write", "remote"])
async def test_the_call_after_the_end_of_the_session_is_refused_and_the_turn_ends(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch, effect: Effect
) -> None:
    actor, done = world.actor("writer"), []

    async def act(context: ToolContext, args: ToolArgs) -> ToolResult:
        done.append(context.actor.user_id)
        await end_session(stage.database, actor.session_id)
        return ToolResult({})

    offer(monkeypatch, act, effect=effect)
    model = ScriptedModel([call(("act", {})), call(("act", {})), say("Never.")])
    turn_id = await stage.ask(actor, "Q", model)
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "unauthenticated")
    assert done == [actor.user_id]
    errors = [record["isError"] for record in (await stage.answer(turn_id)).tool_calls]
    assert errors == [False, True]


async def test_rights_that_are_taken_away_in_the_middle_are_gone_at_the_next_call(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, roles = world.actor("owner"), []

    async def act(context: ToolContext, args: ToolArgs) -> ToolResult:
        roles.append(context.actor.role.value)
        await context.session.execute(
            update(User).where(User.id == owner.user_id).values(role="member")
        )
        return ToolResult({})

    offer(monkeypatch, act, effect="write")
    await stage.ask(owner, "Q", ScriptedModel([call(("act", {})), call(("act", {})), say("Ok.")]))
    assert roles == ["owner", "member"]


async def test_an_agents_token_opens_nothing_but_tool_calls(stage: Stage, world: Any) -> None:
    writer = world.actor("writer")
    async with stage.database.session() as session:
        token = await service.agent_token(session, writer, seconds=60)
        assert (await service.authenticate_agent(session, token)).user_id == writer.user_id
        with pytest.raises(UnauthenticatedError):
            await service.authenticate(session, token)
        with pytest.raises(UnauthenticatedError):
            await service.authenticate_agent(session, world.tokens["writer"])


async def test_a_turn_that_only_speaks_ends_with_its_session_too(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage.runtime.settings, "heartbeat_seconds", 0.05)
    beating = asyncio.create_task(stage.keeper.keep_leases())
    actor, said = world.actor("writer"), asyncio.Event()
    from workers.llm.base import TextPiece

    turn_id = await stage.send(actor, "Q")
    model = ScriptedModel([[TextPiece("Until here"), said.set, asyncio.Event()]])
    playing = asyncio.create_task(stage.play(turn_id, model))
    await asyncio.wait_for(said.wait(), 10)
    await end_session(stage.database, actor.session_id)
    await asyncio.wait_for(playing, 10)
    beating.cancel()
    answer = await stage.answer(turn_id)
    assert (answer.status, answer.content) == ("error", "Until here")
    assert (await stage.turn(turn_id)).error_code == "unauthenticated"


async def test_nothing_is_written_for_a_chat_that_is_gone(stage: Stage, world: Any) -> None:
    page = {"spaceId": str(world.space("WIKI")), "title": "Never", "content": "x"}
    turn_id = await stage.send(world.actor("writer"), "Q")
    async with stage.database.session() as session:
        await session.execute(update(Chat).values(deleted_at=func.now()))
    await stage.play(turn_id, ScriptedModel([call(("createPage", page)), say("Hm.")]))
    async with stage.database.session() as session:
        made = await session.scalar(
            select(func.count()).select_from(Page).where(Page.title == "Never")
        )
    assert made == 0


@pytest.mark.parametrize(("idempotent", "times"), [(False, 1), (True, 2)])
async def test_a_remote_call_whose_answer_never_came_is_not_repeated_unless_that_is_harmless(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch, idempotent: bool, times: int
) -> None:
    calls, left = [], asyncio.Event()

    async def act(context: ToolContext, args: ToolArgs) -> ToolResult:
        assert context.transaction is None
        calls.append(1)
        if len(calls) == 1:
            left.set()
            await asyncio.Event().wait()  # the answer never comes
        return ToolResult({"done": True})

    offer(monkeypatch, act, effect="remote", idempotent=idempotent)
    turn_id = await stage.send(world.actor("writer"), "Q")
    playing = asyncio.create_task(stage.play(turn_id, ScriptedModel([call(("act", {}))])))
    await asyncio.wait_for(left.wait(), 10)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await stage.lose(turn_id)
    await stage.sweep()
    second = ScriptedModel([say("I will look whether it was done.")])
    await stage.play(turn_id, second)
    assert len(calls) == times
    async with stage.database.session() as session:
        row = (await session.scalars(select(ToolCall))).one()
    assert row.sent_at is not None
    told = second.requests[0].messages[-1]
    if idempotent:
        assert row.status == "ok"
    else:
        assert (row.status, row.error_code) == ("error", "unknown_outcome")
        assert "may have been done" in str(told)
    assert (await stage.turn(turn_id)).status == "completed"


@pytest.mark.req("ST-04")
@pytest.mark.parametrize(
    ("effect", "code"), [("read", "interrupted"), ("remote", "unknown_outcome")]
)
async def test_a_stop_does_not_wait_for_a_call_that_takes_its_time(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch, effect: Effect, code: str
) -> None:
    begun = asyncio.Event()

    async def act(context: ToolContext, args: ToolArgs) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        return ToolResult({})

    offer(monkeypatch, act, effect=effect)
    turn_id = await stage.send(world.actor("writer"), "Q")
    hearing = asyncio.create_task(stage.keeper.hear_stops())
    playing = asyncio.create_task(stage.play(turn_id, ScriptedModel([call(("act", {}))])))
    await asyncio.wait_for(begun.wait(), 10)
    async with stage.database.session() as session:
        await request_stop(session, (await stage.turn(turn_id)).chat_id)
    await signal_stop(stage.runtime.redis, turn_id)
    await asyncio.wait_for(playing, 10)
    hearing.cancel()
    assert (await stage.turn(turn_id)).status == "aborted"
    async with stage.database.session() as session:
        row = (await session.scalars(select(ToolCall))).one()
    assert (row.status, row.error_code) == ("error", code)
    assert (await stage.replay(turn_id)).kinds()[-2:] == ["abort", "finish"]


async def test_a_write_that_took_longer_than_the_lease_keeps_its_turn(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Any] = []

    async def act(context: ToolContext, args: ToolArgs) -> ToolResult:
        past = func.now() - func.make_interval(0, 0, 0, 0, 0, 0, 1)
        await context.session.execute(update(Turn).values(lease_until=past))
        return ToolResult({})

    async def look(context: ToolContext, args: ToolArgs) -> ToolResult:
        left.append(await context.session.scalar(select(Turn.lease_until > func.now())))
        return ToolResult({})

    offer(monkeypatch, act, effect="write")
    tool: Tool[Any] = Tool("look", "Look", "Looks.", ToolArgs, look)
    monkeypatch.setattr(registry, "TOOLS", (*registry.TOOLS, tool))
    model = ScriptedModel([call(("act", {})), call(("look", {})), say("Done.")])
    await stage.ask(world.actor("writer"), "Q", model)
    assert left == [True]
