"""Turns that nobody works on: put back, ended, or left alone."""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, update

from shared.accounts.actor import Actor
from shared.bus.jobs import RunTurn, drain, enqueue, waiting
from shared.bus.stream import signal_stop
from shared.chat import turns
from shared.chat.attending import attend
from shared.chat.models import ACTIVE, Generation, StopReason, Turn
from shared.chat.recovery import Reaped, end_abandoned, reap
from shared.chat.stopping import request_stop
from shared.providers.models import AiSettings
from tests.fakes.scripted_model import Play, ScriptedModel, call, say
from tests.fakes.turns import Stage
from workers.llm.base import CallArguments, CallStart, ReasoningPiece, TextPiece


async def sweep(stage: Stage, waiting: int | None, *, seconds: float = 5.0) -> Reaped:
    async with stage.database.session() as session:
        return await reap(session, requeue_seconds=seconds, waiting=waiting)


async def sent(stage: Stage, turn_id: UUID, *, ago: float, status: str = "queued") -> None:
    """Let the turn's message have left so many seconds ago."""
    async with stage.database.session() as session:
        await session.execute(
            update(Turn)
            .where(Turn.id == turn_id)
            .values(enqueued_at=func.now() - timedelta(seconds=ago), status=status)
        )


async def crash(stage: Stage, turn_id: UUID, *script: Sequence[Play]) -> None:
    """An attempt that is killed once its script has been said, and whose lease runs out."""
    said = asyncio.Event()
    *whole, last = script
    playing = asyncio.create_task(
        stage.play(turn_id, ScriptedModel([*whole, [*last, said.set, asyncio.Event()]]))
    )
    await asyncio.wait_for(said.wait(), 10)
    async with asyncio.timeout(10):
        before = -1
        while before != (before := len(await stage.runtime.stream.read(turn_id, 0))) or not before:
            await asyncio.sleep(0.05)  # the events of the script are on their way
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await stage.lose(turn_id)


async def test_a_message_that_waits_in_its_queue_is_not_sent_again(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    await sent(stage, turn_id, ago=290)
    assert (await sweep(stage, waiting=2_000)).requeued == []
    assert (await sweep(stage, waiting=None)).requeued == []
    assert (await sweep(stage, waiting=0)).requeued == [turn_id]
    assert (await stage.turn(turn_id)).enqueue_count == 2
    assert (await sweep(stage, waiting=0)).requeued == []


async def test_a_message_that_later_ones_have_passed_is_gone(stage: Stage, world: Any) -> None:
    lost = await stage.send(world.actor("writer"), "Lost")
    taken = await stage.send(world.actor("reader"), "Taken")
    await sent(stage, lost, ago=60)
    await sent(stage, taken, ago=57, status="completed")
    assert (await sweep(stage, waiting=9)).requeued == []
    await sent(stage, taken, ago=50, status="completed")
    assert (await sweep(stage, waiting=9)).requeued == [lost]


async def test_what_nobody_takes_is_sent_again_after_ever_longer_pauses(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    for count, pause in ((1, 5), (2, 10), (3, 20), (9, 300)):
        async with stage.database.session() as session:
            await session.execute(update(Turn).values(enqueue_count=count))
        await sent(stage, turn_id, ago=pause - 1)
        assert (await sweep(stage, waiting=0)).requeued == []
        await sent(stage, turn_id, ago=pause + 1)
        assert (await sweep(stage, waiting=0)).requeued == [turn_id]


async def test_the_length_of_a_queue_is_that_which_celery_keeps(stage: Stage, world: Any) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    await drain()
    before = await waiting(stage.runtime.redis, "chat")
    enqueue(RunTurn(turn_id=turn_id))
    await drain()
    assert await waiting(stage.runtime.redis, "chat") == before + 1


@pytest.mark.req("ST-07")
async def test_after_three_lost_attempts_the_turn_fails_and_keeps_what_was_said(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    for number in (1, 2, 3):
        words = [ReasoningPiece("Hm.", ""), TextPiece(f"Attempt {number}"), TextPiece(" said so")]
        await crash(stage, turn_id, words)
        await stage.sweep()
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "out_of_attempts")
    answer = await stage.answer(turn_id)
    assert (answer.status, answer.content) == ("error", "Attempt 3 said so")
    seen = await stage.replay(turn_id)
    assert seen.kinds()[-2:] == ["message-metadata", "error"]
    assert seen.chunks[-2]["messageMetadata"]["errorCode"] == "out_of_attempts"
    assert [p["text"] for p in seen.parts if p["type"] == "text"] == ["Attempt 3 said so"]
    async with stage.database.session() as session:
        assert list(await session.scalars(select(Generation.status))) == ["error"]


async def test_a_worker_that_wakes_up_when_its_turn_has_been_ended_says_nothing_more(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    said, go = asyncio.Event(), asyncio.Event()
    frozen = ScriptedModel([[TextPiece("Before"), said.set, go, TextPiece(" and after"), *say("")]])
    async with stage.database.session() as session:
        await session.execute(update(Turn).values(attempts=2))
    playing = asyncio.create_task(stage.play(turn_id, frozen))
    await asyncio.wait_for(said.wait(), 10)
    async with asyncio.timeout(10):
        while "Before" not in str(await stage.runtime.stream.read(turn_id, 0)):
            await asyncio.sleep(0.01)
    await stage.lose(turn_id)
    await stage.sweep()
    go.set()
    await asyncio.wait_for(playing, 10)
    assert (await stage.answer(turn_id)).content == "Before"
    assert "and after" not in str(await stage.runtime.stream.read(turn_id, 0))


async def test_a_last_attempt_that_said_nothing_leaves_the_words_of_the_one_before(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    await crash(stage, turn_id, [TextPiece("Words")])
    await stage.sweep()
    for _ in range(2):
        async with stage.database.session() as session:
            assert await turns.claim(session, turn_id, owner="x", lease_seconds=60) is not None
        await stage.lose(turn_id)
        await stage.sweep()
    assert (await stage.answer(turn_id)).content == "Words"


async def test_committed_steps_stay_before_the_salvaged_one_and_its_calls_were_not_made(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    page = {"spaceId": str(world.space("WIKI")), "title": "Never", "content": "x"}
    asking: list[Play] = [TextPiece("And now"), *call(("createPage", page))[:-2]]
    half: list[Play] = [CallStart(7, "listPages"), CallArguments(7, '{"lim')]
    await crash(stage, turn_id, call(("listPages", {"limit": 5})), [*asking, *half])
    async with stage.database.session() as session:
        await session.execute(update(Turn).values(attempts=3))
    await stage.sweep()
    answer = await stage.answer(turn_id)
    kinds = [part["type"] for part in answer.parts]
    assert kinds == ["step-start", "tool-listPages", "step-start", "text", "tool-createPage"]
    assert answer.parts[1]["state"] == "output-available"
    assert answer.parts[-1]["state"] == "output-error"
    assert answer.parts[-1]["input"] == page
    assert (await stage.replay(turn_id)).errors == []


async def test_a_stop_that_its_dead_worker_never_heard_keeps_what_was_said(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    await crash(stage, turn_id, [TextPiece("Until here")])
    async with stage.database.session() as session:
        await session.execute(update(Turn).values(stop_requested_at=func.now()))
    await stage.sweep()
    answer = await stage.answer(turn_id)
    assert (answer.status, answer.content) == ("aborted", "Until here")


async def test_words_that_redis_lost_are_waited_for_only_for_a_while(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    async with stage.database.session() as session:
        await session.execute(update(Turn).values(attempts=3, lost_at=func.now()))
        assert not await end_abandoned(session, turn_id, None)
        old = func.now() - timedelta(seconds=61)
        await session.execute(update(Turn).values(lost_at=old))
        assert await end_abandoned(session, turn_id, None)
    assert (await stage.turn(turn_id)).status == "error"


async def test_two_sweeps_at_once_do_each_thing_once(stage: Stage, world: Any) -> None:
    again = await stage.send(world.actor("writer"), "Q")
    over = await stage.send(world.actor("reader"), "Q")
    for turn_id in (again, over):
        async with stage.database.session() as session:
            assert await turns.claim(session, turn_id, owner="x", lease_seconds=60) is not None
        await stage.lose(turn_id)
    async with stage.database.session() as session:
        await session.execute(update(Turn).where(Turn.id == over).values(attempts=3))
    await asyncio.gather(*(stage.sweep() for _ in range(6)))
    assert (await stage.turn(again)).enqueue_count == 1
    assert (await stage.turn(over)).status == "error"


async def cancel_on_disconnect(stage: Stage, actor: Actor, seconds: int) -> None:
    async with stage.database.session() as session:
        await session.execute(
            update(AiSettings)
            .where(AiSettings.workspace_id == actor.workspace_id)
            .values(on_disconnect="cancel", disconnect_grace_seconds=seconds)
        )


async def begun(stage: Stage, turn_id: UUID, *, ago: float) -> None:
    async with stage.database.session() as session:
        await session.execute(
            update(Turn)
            .where(Turn.id == turn_id)
            .values(created_at=func.now() - timedelta(seconds=ago))
        )


async def test_a_turn_that_nobody_follows_is_stopped_only_where_the_workspace_says_so(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    turn_id = await stage.send(writer, "Q")
    await begun(stage, turn_id, ago=3_600)
    await stage.sweep()
    assert (await stage.turn(turn_id)).status == "queued"

    await cancel_on_disconnect(stage, writer, 5)
    async with stage.database.session() as session:
        await attend(session, [turn_id])
    await stage.sweep()
    assert (await stage.turn(turn_id)).status == "queued"

    async with stage.database.session() as session:
        left = func.now() - timedelta(seconds=8)
        await session.execute(update(Turn).values(attended_at=left))
    await stage.sweep()
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.stop_reason) == ("aborted", StopReason.UNATTENDED)


@pytest.mark.req("ST-07")
async def test_whatever_meets_at_the_end_of_a_turn_it_ends_once(stage: Stage, world: Any) -> None:
    writer, dice = world.actor("writer"), random.Random(7)
    other = Stage(stage.runtime)

    async def moment() -> None:
        await asyncio.sleep(dice.random() * 0.02)

    async def stop(turn: Turn) -> None:
        await moment()
        async with stage.database.session() as session:
            await request_stop(session, turn.chat_id)
        await signal_stop(stage.runtime.redis, turn.id)

    async def take_over(turn_id: UUID) -> None:
        await moment()
        await stage.lose(turn_id)
        await stage.sweep()
        await other.play(turn_id, ScriptedModel([say("By ", "the other.")]))

    hearing = asyncio.create_task(stage.keeper.hear_stops())
    for run in range(100):
        turn_id = await stage.send(writer, f"Q{run}", alias=f"race-{run}")
        turn = await stage.turn(turn_id)
        model = ScriptedModel([call(("listPages", {"limit": 1})), say("By ", "the first.")])
        rivals = [
            partial(stage.play, turn_id, model),
            partial(stop, turn),
            partial(take_over, turn_id),
        ]
        meeting = dice.sample(rivals, 3 if run % 2 else 2)
        await asyncio.gather(*(rival() for rival in meeting))
        for _ in range(3):  # who was left in the middle is finished by the reaper
            if (await stage.turn(turn_id)).status in ACTIVE:
                await stage.lose(turn_id)
                await stage.sweep()
                await other.play(turn_id, ScriptedModel([say("At last.")]))
        turn, answer = await stage.turn(turn_id), await stage.answer(turn_id)
        assert turn.status in ("completed", "aborted")
        assert answer.status == {"completed": "complete", "aborted": "aborted"}[turn.status]
        assert answer.meta["turnId"] == str(turn_id)
    hearing.cancel()
    async with stage.database.session() as session:
        statuses = list(await session.scalars(select(Generation.status)))
    assert statuses == ["success"] * 100
