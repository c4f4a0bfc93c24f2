"""Messages that wait: sent in their order, once, as their person, or told why not."""

import asyncio
import base64
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
from pydantic import SecretStr
from sqlalchemy import func, select, update

from shared.accounts.models import UserSession
from shared.bus.jobs import SendQueued, drain
from shared.bus.stream import signal_stop
from shared.chat import queueing, repository, sending, turns, waiting
from shared.chat.branches import branch
from shared.chat.contexts import get_context
from shared.chat.models import Chat, Message, QueuedSend, StopReason, Turn, TurnStatus
from shared.chat.queueing import Queued
from shared.chat.stopping import request_stop
from shared.chat.storing import Send
from shared.core.ids import new_id
from shared.core.settings import get_settings
from shared.providers import service
from shared.providers.connections import Typed
from shared.providers.models import AiSettings
from shared.providers.service import AiSettingsChange
from tests.fakes.llm_script import DONE, Gate, finish, says, stream, text, usage
from tests.fakes.llm_stub import LlmStub, Recorded
from tests.fakes.scripted_model import Play, ScriptedModel, say
from tests.fakes.turns import Stage
from workers.agent.attempt import attempt
from workers.agent.history import INTERRUPTED
from workers.agent.queued import send_next
from workers.llm.base import TextPiece, UserMessage
from workers.runtime import Runtime


class Talk:
    """The writer's chat "c" on a stage."""

    def __init__(self, stage: Stage, world: Any) -> None:
        self.stage, self.world = stage, world
        self.actor = world.actor("writer")

    async def post(self, words: str, how: str = "queue", **more: Any) -> Turn | Queued:
        wanted = Send(
            trigger="submit-message",
            text=words,
            alias="c",
            client_message_id=words,
            when_running=how,  # type: ignore[arg-type]
            **more,
        )
        box, context = self.stage.runtime.secrets, get_context("tenant")
        async with self.stage.database.session() as session:
            return await sending.accept(session, self.actor, context, wanted, box)

    async def begin(self, words: str = "First?") -> Turn:
        turn = await self.post(words, "refuse")
        assert isinstance(turn, Turn)
        return turn

    async def wait(self, words: str, how: str = "queue", **more: Any) -> UUID:
        queued = await self.post(words, how, **more)
        assert isinstance(queued, Queued)
        return queued.item.id

    async def now(self, item: UUID) -> Queued:
        async with self.stage.database.session() as session:
            chat = await repository.get_chat(session, self.actor, "c")
            return await queueing.send_now(session, self.actor, chat, item)

    async def send_next(self, chat_id: UUID) -> None:
        await send_next(self.stage.runtime, chat_id)

    async def items(self) -> list[QueuedSend]:
        async with self.stage.database.session() as session:
            chat = await repository.get_chat(session, self.actor, "c")
            return await waiting.in_order(session, chat.id)

    async def newest(self) -> Turn:
        async with self.stage.database.session() as session:
            found = await session.scalars(
                select(Turn).order_by(Turn.created_at.desc(), Turn.id.desc()).limit(1)
            )
            return found.one()

    async def shown(self) -> list[str]:
        """The texts of the branch that is shown."""
        async with self.stage.database.session() as session:
            chat = await repository.get_chat(session, self.actor, "c")
            return [message.content for message in await branch(session, chat.head_id)]

    async def rest(self, *, seconds: float) -> None:
        """Let nothing have happened in the chats for so long."""
        async with self.stage.database.session() as session:
            at = func.now() - timedelta(seconds=seconds)
            await session.execute(update(Chat).values(updated_at=at))


@pytest.fixture
def talk(stage: Stage, world: Any) -> Talk:
    return Talk(stage, world)


async def jobs(redis: Any, name: str = SendQueued.name) -> list[str]:
    """The ids in the jobs of a name that wait in the queue of chats."""
    await drain()
    found = []
    for message in await redis.lrange(SendQueued.queue, 0, -1):
        envelope = orjson.loads(message)
        if envelope["headers"]["task"] == name:
            _, kwargs, _ = orjson.loads(base64.b64decode(envelope["body"]))
            found += kwargs.values()
    return found


def broken() -> list[Play]:
    return [TextPiece("Half"), RuntimeError("broken")]


async def test_what_waits_is_sent_in_order_each_after_the_answer_before(
    talk: Talk, redis: Any
) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.wait("Third?")
    assert await jobs(redis) == []
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    for question, answer in (("Second?", "Two."), ("Third?", "Three.")):
        assert set(await jobs(redis)) == {str(first.chat_id)}
        await talk.send_next(first.chat_id)
        turn = await talk.newest()
        model = ScriptedModel([say(answer)])
        await talk.stage.play(turn.id, model)
        assert model.requests[0].messages[-1] == UserMessage(question)
    assert await talk.items() == []
    assert await talk.shown() == ["First?", "One.", "Second?", "Two.", "Third?", "Three."]
    await talk.send_next(first.chat_id)
    assert (await talk.newest()).id == turn.id


async def test_nothing_is_sent_while_an_answer_is_written(talk: Talk) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.send_next(first.chat_id)
    assert (await talk.newest()).id == first.id
    assert len(await talk.items()) == 1


async def test_two_jobs_at_once_make_one_turn(talk: Talk) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.wait("Third?")
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    await asyncio.gather(*(talk.send_next(first.chat_id) for _ in range(8)))
    assert [item.text for item in await talk.items()] == ["Third?"]
    async with talk.stage.database.session() as session:
        assert await session.scalar(select(func.count()).select_from(Turn)) == 2


async def test_the_request_of_a_message_that_was_sent_finds_its_turn(talk: Talk) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    await talk.send_next(first.chat_id)
    turn = await talk.newest()
    for how in ("queue", "interrupt", "refuse"):
        again = await talk.post("Second?", how)
        assert isinstance(again, Turn)
        assert again.id == turn.id
    assert (await talk.newest()).stop_requested_at is None


async def test_a_sweep_sends_what_a_lost_job_left_lying(talk: Talk, redis: Any) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    await drain()
    await redis.delete(SendQueued.queue)  # a crash between the commit and the queue
    await talk.stage.sweep()
    assert await jobs(redis) == []  # it may still be on its way
    await talk.rest(seconds=6)
    await talk.stage.sweep()
    assert await jobs(redis) == [str(first.chat_id)]
    await talk.stage.sweep()  # a job that nobody has taken is not lost
    assert await jobs(redis) == [str(first.chat_id)]
    await talk.send_next(first.chat_id)
    assert await talk.shown() == ["First?", "One.", "Second?", ""]
    await redis.delete(SendQueued.queue)
    await talk.rest(seconds=6)
    await talk.stage.sweep()
    assert await jobs(redis) == []


@pytest.mark.parametrize("reason", ["running", "failed", "refused", "deleted"])
async def test_a_sweep_leaves_alone_what_must_wait(talk: Talk, redis: Any, reason: str) -> None:
    first = await talk.begin()
    item = await talk.wait("Second?")
    async with talk.stage.database.session() as session:
        chat, row = (
            await session.get_one(Chat, first.chat_id),
            await session.get_one(QueuedSend, item),
        )
        turn = await session.get_one(Turn, first.id)
        turn.status = {"running": "running", "failed": "error"}.get(reason, "completed")
        turn.lease_until = func.now() + timedelta(minutes=1)
        row.error_code = "token_ceiling" if reason == "refused" else None
        chat.deleted_at = func.now() if reason == "deleted" else None
    await drain()
    await redis.delete(SendQueued.queue)
    await talk.rest(seconds=60)
    await talk.stage.sweep()
    assert await jobs(redis) == []
    before = (await talk.newest()).id
    await talk.send_next(first.chat_id)
    assert (await talk.newest()).id == before


@pytest.mark.parametrize("ending", ["stopped", "failed"])
async def test_after_an_answer_without_its_end_the_queue_is_held_until_its_person_goes_on(
    talk: Talk, redis: Any, ending: str
) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    third = await talk.wait("Third?")
    if ending == "stopped":
        async with talk.stage.database.session() as session:
            await request_stop(session, first.chat_id)
    else:
        await talk.stage.play(first.id, ScriptedModel([broken()]))
    assert (await talk.stage.turn(first.id)).status == (
        "aborted" if ending == "stopped" else "error"
    )
    assert await jobs(redis) == []
    await talk.send_next(first.chat_id)
    assert (await talk.newest()).id == first.id

    await talk.now(third)
    assert await jobs(redis) == [str(first.chat_id)]
    await talk.send_next(first.chat_id)
    model = ScriptedModel([say("Three.")])
    await talk.stage.play((await talk.newest()).id, model)
    assert UserMessage(INTERRUPTED) not in model.requests[0].messages  # nothing was interrupted
    await talk.send_next(first.chat_id)  # what is left follows the answer that came to its end
    assert (await talk.shown())[2:] == ["Third?", "Three.", "Second?", ""]


async def test_a_queue_that_was_held_goes_on_after_another_message(talk: Talk, redis: Any) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.stage.play(first.id, ScriptedModel([broken()]))
    other = await talk.post("Instead?")
    assert isinstance(other, Turn)
    await talk.stage.play(other.id, ScriptedModel([say("So.")]))
    assert await jobs(redis) == [str(first.chat_id)]
    await talk.send_next(first.chat_id)
    assert (await talk.shown())[-2:] == ["Second?", ""]


async def test_a_gate_that_refuses_is_told_on_the_message_and_holds_the_others(
    talk: Talk, redis: Any
) -> None:
    first = await talk.begin()
    second = await talk.wait("Second?")
    third = await talk.wait("Third?")
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    async with talk.stage.database.session() as session:
        await session.execute(update(AiSettings).values(token_ceiling=1))
    await talk.send_next(first.chat_id)
    told, behind = await talk.items()
    assert (told.id, told.error_code) == (second, "token_ceiling")
    assert "begin a new one" in (told.error_text or "")
    assert (behind.id, behind.error_code) == (third, None)
    await talk.send_next(first.chat_id)
    async with talk.stage.database.session() as session:
        await session.execute(update(AiSettings).values(token_ceiling=None))
    assert (await talk.newest()).id == first.id

    await redis.delete(SendQueued.queue)
    await talk.now(second)  # once more
    await talk.send_next(first.chat_id)
    assert [item.id for item in await talk.items()] == [third]


async def test_what_stands_behind_a_refused_message_goes_on_when_that_is_taken_out(
    talk: Talk, redis: Any
) -> None:
    first = await talk.begin()
    second = await talk.wait("Second?", model=None)
    await talk.wait("Third?")
    async with talk.stage.database.session() as session:
        row = await session.get_one(QueuedSend, second)
        row.model = "gone"  # it was offered when the message was written
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    await talk.send_next(first.chat_id)
    assert [item.error_code for item in await talk.items()] == ["unknown_model", None]
    await drain()
    await redis.delete(SendQueued.queue)
    async with talk.stage.database.session() as session:
        chat = await repository.get_chat(session, talk.actor, "c")
        await queueing.remove(session, chat, second)
    assert await jobs(redis) == [str(first.chat_id)]
    await talk.send_next(first.chat_id)
    assert (await talk.shown())[-2:] == ["Third?", ""]


@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_a_message_of_a_session_that_ended_is_not_sent_before_its_person_says_so(
    talk: Talk, how: str
) -> None:
    first = await talk.begin()
    item = await talk.wait("Second?")
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    async with talk.stage.database.session() as session:
        old = await session.get_one(UserSession, talk.actor.session_id)
        if how == "revoked":
            old.revoked_at = func.now()
        else:
            old.expires_at = func.now() - timedelta(seconds=1)
        fresh = UserSession(id=new_id(), user_id=talk.actor.user_id)
        fresh.expires_at = func.now() + timedelta(days=1)
        session.add(fresh)
    await talk.send_next(first.chat_id)
    (told,) = await talk.items()
    assert (told.error_code, told.error_text) == (
        "session_ended",
        "You were signed out before this message could be sent.",
    )
    talk.actor = type(talk.actor)(
        talk.actor.workspace_id, talk.actor.user_id, talk.actor.role, session_id=fresh.id
    )
    await talk.now(item)
    await talk.send_next(first.chat_id)
    assert await talk.items() == []
    assert (await talk.newest()).session_id == fresh.id


async def test_an_error_of_ours_is_told_and_does_not_come_again_and_again(
    talk: Talk, redis: Any
) -> None:
    first = await talk.begin()
    await talk.wait("Second?")
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    async with talk.stage.database.session() as session:
        # No such context: as after a change that took one away.
        await session.execute(update(Chat).values(context="gone"))
        await session.execute(
            update(Turn).values(send_key=select(QueuedSend.send_key).scalar_subquery())
        )
    await talk.send_next(first.chat_id)
    assert (await talk.items())[0].error_code == "unknown_context"
    async with talk.stage.database.session() as session:
        await session.execute(update(Chat).values(context="tenant"))
        await session.execute(update(QueuedSend).values(error_code=None))
    await talk.send_next(first.chat_id)  # its key is taken, against all rules
    assert (await talk.items())[0].error_code == "internal"
    await redis.delete(SendQueued.queue)
    await talk.rest(seconds=60)
    await talk.stage.sweep()
    assert await jobs(redis) == []


@pytest.fixture
async def provided(
    database: object, redis: object, world: Any
) -> AsyncIterator[tuple[Talk, LlmStub]]:
    """A worker whose workspace asks a server."""
    settings = get_settings().model_copy(update={"private_models": True})
    runtime = Runtime(settings)
    async with LlmStub() as stub:
        change = AiSettingsChange(
            {"driver": "openai-compatible", "chat_model": "m"},
            chat=Typed(stub.url, SecretStr("key-0123456789")),
        )
        async with runtime.database.session() as session:
            await service.change_settings(
                session, world.actor("owner"), change, runtime.secrets, private=True
            )
        yield Talk(Stage(runtime), world), stub
        stub.assert_consumed()
    await runtime.close()


def said(request: Recorded) -> list[tuple[str, str]]:
    return [(m["role"], str(m["content"])) for m in request.messages if m["role"] != "system"]


@pytest.mark.req("ST-11")
async def test_send_now_interrupts_the_answer_and_the_model_is_told(
    provided: tuple[Talk, LlmStub], redis: Any
) -> None:
    talk, stub = provided
    silence = Gate()
    stub.plays(
        stream(text("Half of it"), silence),
        stream(text("All of it."), finish(), usage(), DONE),
        says("And more."),
    )
    first = await talk.begin()
    hearing = asyncio.create_task(talk.stage.keeper.hear_stops())
    playing = asyncio.create_task(attempt(talk.stage.runtime, talk.stage.keeper, first.id))
    await stub.until(lambda: stub.chats)
    async with asyncio.timeout(10):
        while not await talk.stage.runtime.stream.read(first.id, 0):
            await asyncio.sleep(0.01)
    item = await talk.wait("No, the other one.")
    queued = await talk.now(item)
    assert queued.stopped is not None
    assert queued.stopped.id == first.id
    async with asyncio.timeout(10):
        while not playing.done():  # said again until the worker listens
            await signal_stop(talk.stage.runtime.redis, first.id)
            await asyncio.sleep(0.05)
    await playing
    hearing.cancel()
    await stub.until(lambda: stub.chats[0].closed_at is not None)

    interrupted = await talk.stage.turn(first.id)
    assert (interrupted.status, interrupted.stop_reason) == ("aborted", StopReason.INTERRUPTED)
    answer = await talk.stage.answer(first.id)
    assert (answer.status, answer.content) == ("aborted", "Half of it")
    assert answer.meta["stopReason"] == "interrupted"
    assert await jobs(redis) == [str(first.chat_id)]
    await talk.send_next(first.chat_id)
    second = await talk.newest()
    await attempt(talk.stage.runtime, talk.stage.keeper, second.id)
    assert said(stub.chats[1]) == [
        ("user", "First?"),
        ("assistant", "Half of it"),
        ("user", f"{INTERRUPTED}\n\nNo, the other one."),
    ]
    third = await talk.begin("And?")
    await attempt(talk.stage.runtime, talk.stage.keeper, third.id)
    assert said(stub.chats[2])[-2:] == [("assistant", "All of it."), ("user", "And?")]


async def test_a_note_stays_when_what_it_is_about_is_summarised(talk: Talk) -> None:
    first = await talk.begin()
    await talk.wait("Second?", "interrupt")
    await talk.send_next(first.chat_id)
    second = await talk.newest()
    async with talk.stage.database.session() as session:
        turn = await session.get_one(Turn, first.id)
        assert turn.status == TurnStatus.ABORTED
        await session.execute(
            update(Message)
            .where(Message.id == turn.assistant_message_id)
            .values(summary="They asked.")
        )
    model = ScriptedModel([say("Two.")])
    await talk.stage.play(second.id, model)
    texts = [m.text for m in model.requests[0].messages if isinstance(m, UserMessage)]
    assert "They asked." in texts[0]
    assert texts[1:] == [INTERRUPTED, "Second?"]


async def test_an_answer_that_ended_before_the_stop_reached_it_was_not_interrupted(
    talk: Talk,
) -> None:
    first = await talk.begin()
    item = await talk.wait("Second?")

    async def hurry() -> None:
        await talk.now(item)

    hurrying: list[asyncio.Task[None]] = []
    last = [*say("One."), lambda: hurrying.append(asyncio.create_task(hurry()))]
    await talk.stage.play(first.id, ScriptedModel([last]))
    await asyncio.gather(*hurrying)
    turn = await talk.stage.turn(first.id)
    await talk.send_next(first.chat_id)
    model = ScriptedModel([say("Two.")])
    await talk.stage.play((await talk.newest()).id, model)
    told = UserMessage(INTERRUPTED) in model.requests[0].messages
    assert told is (turn.status == TurnStatus.ABORTED)


@pytest.mark.parametrize("how", ["queue", "interrupt", "now"])
async def test_a_message_that_meets_the_end_of_an_answer_is_never_left_lying(
    talk: Talk, redis: Any, how: str
) -> None:
    """Either it waits and the answer's end has it sent, or it is answered at once; and neither
    waits for the other's lock."""
    for number in range(12):
        await redis.delete(SendQueued.queue)
        text = f"Message {number} {how}"
        turn = await talk.begin(f"Question {number} {how}")
        item = await talk.wait(f"Before {number}") if how == "now" else None
        async with talk.stage.database.session() as session:
            held = await turns.claim(session, turn.id, owner="w", lease_seconds=60)
        assert held is not None

        async def end(held: Turn = held) -> None:
            async with talk.stage.database.session() as session:
                await turns.hold(session, held.id, held.epoch)
                state = await turns.load(session, held.id)
                assert state is not None
                await turns.finish(session, state, turns.Ending(TurnStatus.COMPLETED, "stop"))

        meeting = talk.post(text, how) if item is None else talk.now(item)
        met, _ = await asyncio.gather(meeting, end())
        if isinstance(met, Queued):
            assert str(turn.chat_id) in await jobs(redis)
            await talk.send_next(turn.chat_id)
            assert await talk.items() == []
        newest = await talk.newest()
        assert newest.id != turn.id
        async with talk.stage.database.session() as session:
            await request_stop(session, turn.chat_id)


async def test_an_interrupting_message_waits_for_a_turn_that_began_just_before(
    talk: Talk,
) -> None:
    """The turn begins after the message has looked for one: it is found all the same."""
    first = await talk.begin()
    await talk.stage.play(first.id, ScriptedModel([say("One.")]))
    async with talk.stage.database.session() as session:
        chat = await repository.get_chat(session, talk.actor, "c")
        await repository.locked(session, chat)
        interrupting = asyncio.create_task(talk.post("Now!", "interrupt"))
        async with asyncio.timeout(10):
            while not await _somebody_waits(talk):
                await asyncio.sleep(0.01)
        wanted = Send("submit-message", "Second?", client_message_id="s", alias="c")
        box, context = talk.stage.runtime.secrets, get_context("tenant")
        second = await sending.accept(session, talk.actor, context, wanted, box)
    queued = await interrupting
    assert isinstance(second, Turn)
    assert isinstance(queued, Queued)
    assert queued.stopped is not None
    assert queued.stopped.id == second.id
    assert (await talk.stage.turn(second.id)).stop_reason == StopReason.INTERRUPTED


async def _somebody_waits(talk: Talk) -> bool:
    """Whether a statement of this database waits for a lock."""
    from sqlalchemy import text as sql

    async with talk.stage.database.session() as session:
        waits = await session.scalar(
            sql(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        )
    return bool(waits)
