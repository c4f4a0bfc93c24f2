"""A turn through the loop, against a scripted model and real stores."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shared.accounts.models import UserSession
from shared.chat import turns
from shared.chat.branches import branch
from shared.chat.errors import LostLeaseError
from shared.chat.models import Chat, Generation, Step, ToolCall, Turn
from shared.chat.recovery import reap
from shared.chat.stopping import request_stop
from shared.wiki import service
from shared.wiki.models import Page, PageHistory
from shared.wiki.urls import page_url
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from workers.llm.base import (
    AssistantMessage,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningPiece,
    TextPiece,
    ToolMessage,
    UserMessage,
)
from workers.maintenance.expiry import sweep_expired


async def make_page(stage: Stage, actor: Any, space_id: UUID, title: str, text: str) -> UUID:
    async with stage.database.session() as session:
        page = await service.create_page(
            session, actor, space_id=space_id, title=title, markdown=text
        )
        return page.id


@pytest.mark.req("MN-08")
async def test_a_turn_goes_from_question_to_stored_answer(stage: Stage, world: Any) -> None:
    writer = world.actor("writer")
    page_id = await make_page(stage, writer, world.space("WIKI"), "Leave", "Ask your supervisor.")
    model = ScriptedModel(
        [
            call(("getPage", {"pageId": str(page_id)}), text="Let me look."),
            say("Ask ", "your ", "supervisor."),
        ]
    )
    turn_id = await stage.send(writer, "How do I get leave?")
    queued = await stage.turn(turn_id)
    assert queued.status == "queued"
    async with stage.database.session() as session:
        generation = (await session.scalars(select(Generation))).one()
        assert generation.status == "pending"
        assert generation.turn_id == turn_id

    await stage.play(turn_id, model)

    model.assert_consumed()
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.epoch, turn.attempts) == ("completed", 1, 1)
    answer = await stage.answer(turn_id)
    assert answer.status == "complete"
    assert [part["type"] for part in answer.parts] == [
        "step-start",
        "text",
        "tool-getPage",
        "step-start",
        "text",
    ]
    assert answer.parts[2]["output"]["title"] == "Leave"
    assert "Ask your supervisor." in answer.content
    async with stage.database.session() as session:
        generation = (await session.scalars(select(Generation))).one()
        assert generation.status == "success"
        assert (generation.input_tokens, generation.output_tokens) == (20, 8)
        assert generation.time_ms is not None
    seen = await stage.replay(turn_id)
    assert seen.kinds()[0] == "start"
    assert seen.kinds()[-1] == "finish"
    assert seen.chunks[-1]["messageMetadata"]["inputTokens"] == 20
    assert [p["type"] for p in seen.parts] == [p["type"] for p in answer.parts]


@pytest.mark.req("CH-08")
async def test_a_message_row_holds_name_arguments_and_result_of_its_calls(
    stage: Stage, world: Any
) -> None:
    model = ScriptedModel([call(("listPages", {"limit": 5})), say("Done.")])
    turn_id = await stage.ask(world.actor("writer"), "List", model)
    answer = await stage.answer(turn_id)
    (record,) = answer.tool_calls
    assert record["name"] == "listPages"
    assert record["args"] == {"limit": 5}
    assert record["result"]["truncated"] is False
    assert record["isError"] is False


@pytest.mark.req("CH-09", "ST-02")
async def test_parts_come_back_in_the_order_streamed_and_every_kind_pairs_up(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    page_id = await make_page(stage, writer, world.space("WIKI"), "A", "Body.")
    async with stage.database.session() as session:
        page = await service.get_page(session, writer, page_id)
        space = await service.get_space(session, page.space_id)
    url = page_url(space.slug, "A", page.slug_id)
    model = ScriptedModel(
        [
            [
                ReasoningPiece("hm"),
                *call(
                    ("getPage", {"pageId": str(page_id)}),
                    ("getPage", {"pageId": str(uuid4())}),
                    text="Look.",
                ),
            ],
            say(f"It says [A]({url})."),
        ]
    )
    turn_id = await stage.ask(writer, "What?", model)
    answer = await stage.answer(turn_id)
    assert [part["type"] for part in answer.parts] == [
        "step-start",
        "reasoning",
        "text",
        "tool-getPage",
        "tool-getPage",
        "step-start",
        "text",
        "source-url",
    ]
    seen = await stage.replay(turn_id)
    kinds = set(seen.kinds())
    assert kinds >= {
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-available",
        "tool-output-available",
        "tool-output-error",
        "source-url",
        "finish-step",
        "finish",
    }
    inputs = [c["toolCallId"] for c in seen.chunks if c["type"] == "tool-input-available"]
    outputs = [c["toolCallId"] for c in seen.chunks if c["type"].startswith("tool-output")]
    assert sorted(inputs) == sorted(outputs)
    for kind in ("text", "reasoning"):
        starts = [c["id"] for c in seen.chunks if c["type"] == f"{kind}-start"]
        ends = [c["id"] for c in seen.chunks if c["type"] == f"{kind}-end"]
        assert starts == ends


@pytest.mark.req("LP-01")
async def test_a_model_that_always_calls_is_asked_cap_times_and_once_without_tools(
    stage: Stage, world: Any
) -> None:
    model = ScriptedModel(forever=call(("listPages", {})))
    turn_id = await stage.ask(world.actor("writer"), "Loop", model)
    turn = await stage.turn(turn_id)
    assert len(model.requests) == turn.max_steps + 1
    assert model.requests[-1].tools == ()
    assert all(request.tools for request in model.requests[:-1])
    assert (turn.status, turn.truncated) == ("completed", True)


@pytest.mark.req("LP-03", "TG-07")
async def test_a_foreign_page_is_an_error_result_and_the_turn_goes_on(
    stage: Stage, world: Any
) -> None:
    other = world.actor("other")
    foreign = await make_page(stage, other, world.space("OTHER"), "Secret", "Body")
    model = ScriptedModel([call(("getPage", {"pageId": str(foreign)})), say("Not there.")])
    turn_id = await stage.ask(world.actor("writer"), "Read it", model)
    answer = await stage.answer(turn_id)
    tool = next(part for part in answer.parts if part["type"] == "tool-getPage")
    assert tool["state"] == "output-error"
    assert "not_found" in tool["errorText"]
    outcome = model.requests[1].messages[-1]
    assert isinstance(outcome, ToolMessage)
    assert outcome.is_error
    assert answer.content == "Not there."


@pytest.mark.req("LP-04")
async def test_an_unknown_tool_is_an_error_result(stage: Stage, world: Any) -> None:
    model = ScriptedModel([call(("permanently_delete_page", {"pageId": "x"})), say("No.")])
    turn_id = await stage.ask(world.actor("writer"), "Destroy", model)
    answer = await stage.answer(turn_id)
    tool = answer.parts[1]
    assert tool["state"] == "output-error"
    assert "unknown_or_disallowed_tool" in tool["errorText"]


@pytest.mark.req("LP-06")
async def test_several_calls_of_one_step_are_all_run_and_paired(stage: Stage, world: Any) -> None:
    model = ScriptedModel(
        [call(("listPages", {}), ("searchPages", {"query": "x"}), ("getCurrentPage", {})), say("k")]
    )
    turn_id = await stage.ask(world.actor("writer"), "Three", model)
    seen = await stage.replay(turn_id)
    outputs = {c["toolCallId"] for c in seen.chunks if c["type"] == "tool-output-available"}
    assert len(outputs) == 3
    results = [m for m in model.requests[1].messages if isinstance(m, ToolMessage)]
    asked = next(m for m in model.requests[1].messages if isinstance(m, AssistantMessage))
    assert [r.call_id for r in results] == [c.id for c in asked.calls]


async def test_wrong_arguments_are_named_and_the_other_call_succeeds(
    stage: Stage, world: Any
) -> None:
    model = ScriptedModel(
        [call(("getPage", {}), ("listPages", {}), ("listPages", '{"limit": ')), say("k")]
    )
    turn_id = await stage.ask(world.actor("writer"), "Wrong", model)
    answer = await stage.answer(turn_id)
    assert "getPage: pageId" in answer.parts[1]["errorText"]
    assert answer.parts[2]["state"] == "output-available"
    assert "JSON" in answer.parts[3]["errorText"]


@pytest.mark.req("TG-02")
async def test_just_the_allowed_tools_are_offered(stage: Stage, world: Any) -> None:
    model = ScriptedModel([say("Hello.")])
    await stage.ask(world.actor("writer"), "Hi", model)
    offered = [tool.name for tool in model.requests[0].tools]
    assert offered == [
        "searchPages",
        "getPage",
        "getCurrentPage",
        "listPages",
        "createPage",
        "editPageText",
        "updatePageContent",
    ]
    for spec in model.requests[0].tools:
        assert not {"workspaceId", "userId", "sessionId"} & set(spec.schema["properties"])


@pytest.mark.req("TW-01", "PN-01", "TG-01")
async def test_an_agent_writes_as_the_person_who_asked_and_is_marked(
    stage: Stage, world: Any
) -> None:
    space = world.space("WIKI")
    asked = {"spaceId": str(space), "title": "Plan", "content": "# One\n\nText **bold**."}
    turn_id = await stage.ask(
        world.actor("writer"), "Write it", ScriptedModel([call(("createPage", asked)), say("ok")])
    )
    turn = await stage.turn(turn_id)
    async with stage.database.session() as session:
        page = (await session.scalars(select(Page).where(Page.title == "Plan"))).one()
        version = (
            await session.scalars(select(PageHistory).where(PageHistory.page_id == page.id))
        ).one()
        stored = (await session.scalars(select(ToolCall))).one()
    for row in (page, version):
        assert row.last_updated_source == "agent"
        assert row.last_updated_ai_chat_id == turn.chat_id
        assert row.last_updated_by_id == world.actor("writer").user_id
    assert stored.inverse == {"action": "trash_page", "pageId": str(page.id)}

    refused = await stage.ask(
        world.actor("reader"), "Write", ScriptedModel([call(("createPage", asked)), say("no")])
    )
    answer = await stage.answer(refused)
    assert "forbidden" in answer.parts[1]["errorText"]
    async with stage.database.session() as session:
        count = await session.scalar(select(func.count()).select_from(Page))
        titled = await session.scalar(
            select(func.count()).select_from(Page).where(Page.title == "Plan")
        )
    assert titled == 1
    assert count is not None


@pytest.mark.req("TR-03")
async def test_the_open_page_is_read_if_the_person_may_read_it(stage: Stage, world: Any) -> None:
    owner, reader = world.actor("owner"), world.actor("reader")
    hidden = await make_page(stage, owner, world.space("PRIV"), "Hidden", "Secret words")
    shown = await make_page(stage, world.actor("writer"), world.space("WIKI"), "Open", "Words")
    for page_id, title in ((shown, "Open"), (hidden, None), (None, None)):
        model = ScriptedModel([call(("getCurrentPage", {})), say("k")])
        turn_id = await stage.ask(reader, "This page?", model, page_id=page_id)
        output = (await stage.answer(turn_id)).parts[1]["output"]
        assert (output["page"] or {}).get("title") == title
        assert "Hidden" not in model.requests[0].system


@pytest.mark.req("CH-11")
async def test_history_comes_from_the_database(stage: Stage, world: Any) -> None:
    writer = world.actor("writer")
    first = ScriptedModel([call(("listPages", {})), say("First answer.")])
    await stage.ask(writer, "First?", first, alias="c1", message_id="m1")
    second = ScriptedModel([say("Second.")])
    await stage.ask(writer, "Second?", second, alias="c1", message_id="m2")
    messages = second.requests[0].messages
    assert [type(m) for m in messages] == [
        UserMessage,
        AssistantMessage,
        ToolMessage,
        AssistantMessage,
        UserMessage,
    ]
    assert messages[-1] == UserMessage("Second?")


async def test_a_model_error_ends_the_turn_with_what_was_said(stage: Stage, world: Any) -> None:
    model = ScriptedModel([[TextPiece("Half an ans"), ModelError("the provider answered 500")]])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    answer = await stage.answer(turn_id)
    assert (answer.status, answer.content) == ("error", "Half an ans")
    assert answer.meta["error"] == "the provider answered 500"
    seen = await stage.replay(turn_id)
    assert seen.kinds()[-1] == "error"
    async with stage.database.session() as session:
        assert (await session.scalars(select(Generation.status))).one() == "error"


@pytest.mark.req("CH-01")
async def test_a_first_turn_that_fails_leaves_one_chat_and_a_retry_adds_none(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    refused = ScriptedModel([[ModelError("401 from the provider")]])
    turn_id = await stage.ask(writer, "Q", refused, alias="c1", message_id="m1")
    assert (await stage.turn(turn_id)).status == "error"
    again = await stage.ask(
        writer,
        "Q",
        ScriptedModel([say("An answer.")]),
        alias="c1",
        message_id="m1",
        trigger="regenerate-message",
    )
    assert (await stage.turn(again)).status == "completed"
    async with stage.database.session() as session:
        chats = list(await session.scalars(select(Chat)))
        standing = await branch(session, chats[0].head_id)
        assert [message.role for message in standing] == ["user", "assistant"]
    assert len(chats) == 1


async def test_a_stop_in_mid_answer_keeps_what_was_said(stage: Stage, world: Any) -> None:
    said, never = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([[TextPiece("One "), TextPiece("two"), said.set, never]])
    turn_id = await stage.send(world.actor("writer"), "Q")
    playing = asyncio.create_task(stage.play(turn_id, model))
    await asyncio.wait_for(said.wait(), 10)
    turn = await stage.turn(turn_id)
    async with stage.database.session() as session:
        assert await request_stop(session, turn.chat_id) is not None
    stage.keeper._on_signal(turn_id)
    await asyncio.wait_for(playing, 10)
    answer = await stage.answer(turn_id)
    assert (answer.status, answer.content) == ("aborted", "One two")
    assert model.cancelled == 1
    seen = await stage.replay(turn_id)
    assert seen.kinds()[-2:] == ["abort", "finish"]
    assert seen.chunks[-1]["finishReason"] == "interrupted"


async def test_a_queued_turn_is_stopped_without_a_worker(stage: Stage, world: Any) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    turn = await stage.turn(turn_id)
    async with stage.database.session() as session:
        await request_stop(session, turn.chat_id)
    await stage.play(turn_id, ScriptedModel())
    assert (await stage.turn(turn_id)).status == "aborted"
    assert (await stage.replay(turn_id)).kinds() == ["start", "abort", "finish"]


async def test_a_redelivered_message_does_nothing(stage: Stage, world: Any) -> None:
    turn_id = await stage.ask(world.actor("writer"), "Q", ScriptedModel([say("A")]))
    before = await stage.answer(turn_id)
    await stage.play(turn_id, ScriptedModel())
    assert (await stage.answer(turn_id)).updated_at == before.updated_at


@pytest.mark.req("RG-12")
async def test_a_crashed_turn_goes_on_after_its_last_commit(stage: Stage, world: Any) -> None:
    space = world.space("WIKI")
    page = {"spaceId": str(space), "title": "Once", "content": "x"}
    dead = asyncio.Event()
    model = ScriptedModel(
        [call(("createPage", page)), [TextPiece("half"), dead.set, asyncio.Event()]]
    )
    turn_id = await stage.send(world.actor("writer"), "Write")
    playing = asyncio.create_task(stage.play(turn_id, model))
    await asyncio.wait_for(dead.wait(), 10)
    await heard(stage, turn_id, b'"half"')
    await _kill(playing)

    await stage.lose(turn_id)
    async with stage.database.session() as session:
        assert (await reap(session, requeue_seconds=1)).requeued == [turn_id]
    # Asked again, this model says something else; the committed step is not asked for again.
    second = ScriptedModel([say("whole")])
    await stage.play(turn_id, second)

    second.assert_consumed()
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.epoch) == ("completed", 2)
    async with stage.database.session() as session:
        count = await session.scalar(
            select(func.count()).select_from(Page).where(Page.title == "Once")
        )
    assert count == 1
    seen = await stage.replay(turn_id)
    assert seen.kinds().count("reset-step") == 1
    texts = [part["text"] for part in seen.parts if part["type"] == "text"]
    assert texts == ["whole"]


async def heard(stage: Stage, turn_id: UUID, text: bytes) -> None:
    """Until an event with this text is in the turn's stream."""
    async with asyncio.timeout(10):
        while not any(text in data for _, data in await stage.runtime.stream.read(turn_id, 0)):
            await asyncio.sleep(0.005)


async def _kill(task: "asyncio.Task[None]") -> None:
    """Cancel hard: nothing of the attempt may tidy up in the database."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_calls_without_an_outcome_are_run_by_the_next_attempt(
    stage: Stage, world: Any
) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    async with stage.database.session() as session:
        turn = await turns.claim(session, turn_id, owner="gone", lease_seconds=60)
        assert turn is not None
    async with stage.database.session() as session:
        state = await turns.load(session, turn_id)
        assert state is not None
        step = Step(
            turn_id=turn_id,
            number=1,
            parts=[{"type": "tool", "ordinal": 0}],
            seq=3,
            finish_reason="tool-calls",
        )
        pending = ToolCall(turn_id=turn_id, step=1, ordinal=0, name="listPages", args={})
        await turns.commit_step(session, state, step, [pending])
    await stage.lose(turn_id)
    async with stage.database.session() as session:
        await reap(session, requeue_seconds=1)
    model = ScriptedModel([say("After.")])
    await stage.play(turn_id, model)
    assert isinstance(model.requests[0].messages[-1], ToolMessage)
    assert not model.requests[0].messages[-1].is_error
    answer = await stage.answer(turn_id)
    assert answer.parts[1]["state"] == "output-available"


@pytest.mark.parametrize(
    ("failure", "status", "attempts"),
    [
        (OperationalError("q", {}, Exception("gone")), "queued", 1),
        (PoolTimeoutError("no connection"), "queued", 1),
        (DataError("q", {}, Exception("refused")), "error", 1),
        (KeyError("a bug"), "error", 1),
    ],
)
async def test_what_another_attempt_may_mend_goes_back_to_the_queue_and_the_rest_ends(
    stage: Stage, world: Any, failure: Exception, status: str, attempts: int
) -> None:
    turn_id = await stage.ask(
        world.actor("writer"), "Q", ScriptedModel([[TextPiece("Half"), failure]])
    )
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.attempts, turn.lease_owner) == (status, attempts, None)
    if status == "queued":
        await stage.play(turn_id, ScriptedModel([say("Whole.")]))
        assert (await stage.answer(turn_id)).content == "Whole."


async def test_a_worker_that_goes_away_hands_its_turn_over_uncounted(
    stage: Stage, world: Any
) -> None:
    said = asyncio.Event()
    turn_id = await stage.send(world.actor("writer"), "Q")
    model = ScriptedModel([[TextPiece("Half"), said.set, asyncio.Event()]])
    playing = asyncio.create_task(stage.play(turn_id, model))
    await asyncio.wait_for(said.wait(), 10)
    stage.keeper.hand_over()
    await asyncio.wait_for(playing, 10)
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.attempts) == ("queued", 0)
    await stage.play(turn_id, ScriptedModel([say("Whole.")]))
    assert (await stage.answer(turn_id)).content == "Whole."
    assert (await stage.replay(turn_id)).errors == []


async def test_an_old_epoch_changes_nothing(stage: Stage, world: Any) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    async with stage.database.session() as session:
        old = await turns.claim(session, turn_id, owner="a", lease_seconds=60)
        assert old is not None
    async with stage.database.session() as session:
        state = await turns.load(session, turn_id)
        assert state is not None
    await stage.lose(turn_id)
    async with stage.database.session() as session:
        assert await turns.claim(session, turn_id, owner="b", lease_seconds=60) is not None
    with pytest.raises(LostLeaseError):
        async with stage.database.session() as session:
            step = Step(turn_id=turn_id, number=1, parts=[], seq=1, finish_reason="stop")
            await turns.commit_step(session, state, step, [])
    with pytest.raises(LostLeaseError):
        async with stage.database.session() as session:
            await turns.hold(session, turn_id, old.epoch)


async def test_an_ended_session_stops_the_turn_at_its_next_call(stage: Stage, world: Any) -> None:
    actor = world.actor("writer")
    page = {"spaceId": str(world.space("WIKI")), "title": "Never", "content": "x"}
    turn_id = await stage.send(actor, "Write")
    async with stage.database.session() as session:
        await session.execute(
            update(UserSession)
            .where(UserSession.id == actor.session_id)
            .values(revoked_at=func.now())
        )
    await stage.play(turn_id, ScriptedModel([call(("createPage", page))]))
    assert (await stage.turn(turn_id)).status == "error"
    async with stage.database.session() as session:
        never = await session.scalar(
            select(func.count()).select_from(Page).where(Page.title == "Never")
        )
    assert never == 0


async def test_text_that_a_database_cannot_hold_is_made_whole(stage: Stage, world: Any) -> None:
    pieces = [TextPiece("a\x00b \ud83d"), TextPiece("\ude00 \udc00 \u2028\u0085 end")]
    turn_id = await stage.ask(world.actor("writer"), "Q", ScriptedModel([[*pieces, *say("")]]))
    answer = await stage.answer(turn_id)
    assert answer.content == "ab \U0001f600 \ufffd \u2028\u0085 end"
    for _, data in await stage.runtime.stream.read(turn_id, 0):
        assert "\u2028".encode() not in data


async def the_generation(stage: Stage) -> Generation:
    async with stage.database.session() as session:
        return (await session.scalars(select(Generation))).one()


@pytest.mark.req("MN-01")
async def test_a_generation_is_made_before_the_call_and_closed_after_it(
    stage: Stage, world: Any
) -> None:
    seen: list[str] = []

    async def look() -> None:
        seen.append((await the_generation(stage)).status)

    class Watching(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            await look()
            async for event in super().stream(request):
                yield event

    await stage.ask(world.actor("writer"), "Q", Watching([say("an ", "answer")]))
    closed = await the_generation(stage)
    assert seen == ["pending"]
    assert (closed.status, closed.input_tokens, closed.output_tokens) == ("success", 10, 2)
    assert closed.time_ms is not None
    assert (closed.object, closed.type, closed.model) == ("chat", "chat", "offline")
    assert closed.finished_at is not None


@pytest.mark.req("MN-01")
async def test_the_pending_row_of_a_killed_worker_is_closed(stage: Stage, world: Any) -> None:
    turn_id = await stage.send(world.actor("writer"), "Q")
    async with stage.database.session() as session:
        await session.execute(update(Turn).where(Turn.id == turn_id).values(attempts=3))
    await stage.sweep()
    assert (await the_generation(stage)).status == "error"

    second = await stage.send(world.actor("reader"), "Q")
    async with stage.database.session() as session:
        await session.execute(update(Generation).values(status="pending"))
        await session.execute(update(Turn).where(Turn.id == second).values(status="error"))
    await sweep_expired(stage.database)
    async with stage.database.session() as session:
        assert set(await session.scalars(select(Generation.status))) == {"error"}
