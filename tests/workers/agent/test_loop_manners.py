"""What the loop makes of a model's manners: odd calls, limits, filters, windows, sums."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from shared.chat.models import Generation, Turn
from shared.core.tunables import MAX_STEP_CALLS, TOOL_CALLS_AT_ONCE
from shared.providers.models import AiSettings, CatalogueModel
from shared.wiki.models import Page
from tests.factories.saved_pages import make_page
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage
from workers.agent.toolset import Toolset
from workers.llm.base import (
    CallArguments,
    CallEnd,
    CallStart,
    ContextTooLongError,
    Finished,
    ModelError,
    ReasoningPiece,
    TextPiece,
    ToolMessage,
    Usage,
    UserMessage,
)


def outcomes(model: ScriptedModel, request: int = -1) -> list[tuple[str, bool, str]]:
    """The tool messages of a request: name, whether an error, what it says."""
    messages = model.requests[request].messages
    return [(m.name, m.is_error, m.content) for m in messages if isinstance(m, ToolMessage)]


@pytest.mark.req("LP-05")
async def test_a_missing_argument_is_named_and_the_other_call_is_made(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Leave", "240 hours")
    model = ScriptedModel(
        [call(("getPage", {"blockIds": True}), ("getPage", {"pageId": str(page.id)})), say("Ok.")]
    )
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    (_, failed, text), (_, other_failed, other) = outcomes(model)
    assert failed
    assert not other_failed
    assert text.startswith("getPage: ")
    assert "pageId" in text
    assert "240 hours" in other
    assert (await stage.answer(turn_id)).content == "Ok."


@pytest.mark.req("LP-10")
async def test_arguments_that_the_limit_cut_become_an_error_that_says_so(
    stage: Stage, world: Any
) -> None:
    cut = [
        CallStart(0, "createPage"),
        CallArguments(0, '{"title": "Half a'),
        CallEnd(0),
        Usage(10, 4096),
        Finished("length"),
    ]
    model = ScriptedModel([cut, say("Shorter then.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    ((_, failed, text),) = outcomes(model)
    assert failed
    assert "truncated" in text
    assert (await stage.turn(turn_id)).status == "completed"
    async with stage.database.session() as session:
        assert list(await session.scalars(select(Page.title))) == []


@pytest.mark.req("LP-07")
async def test_a_write_is_there_before_the_turn_ends_and_nobody_is_asked(
    stage: Stage, world: Any
) -> None:
    args = {"spaceId": str(world.space("WIKI")), "title": "Made", "content": "By the agent"}
    model = ScriptedModel([call(("createPage", args)), say("Done.")])
    seen: list[str] = []

    class Looking(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            async with stage.database.session() as session:
                seen.extend(await session.scalars(select(Page.title)))
            async for event in model.stream(request):
                yield event

    turn_id = await stage.ask(world.actor("writer"), "Make it", Looking())
    assert seen == ["Made"]  # at the second request, before the answer
    assert "tool-approval-request" not in (await stage.replay(turn_id)).kinds()


@pytest.mark.req("CH-09")
async def test_parts_come_back_in_the_order_in_which_they_were_streamed(
    stage: Stage, world: Any
) -> None:
    page = await make_page(stage.database, world, "Leave", "240 hours")
    thinking = [ReasoningPiece("Let me ", "reasoning_content"), ReasoningPiece("think.")]
    two = call(("getPage", {"pageId": str(page.id)}), ("listPages", {}))
    model = ScriptedModel([[*thinking, *two], say("240 hours.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    answer = await stage.answer(turn_id)
    assert [part["type"] for part in answer.parts] == [
        "step-start",
        "reasoning",
        "tool-getPage",
        "tool-listPages",
        "step-start",
        "text",
    ]
    assert answer.parts[1]["text"] == "Let me think."
    assert answer.parts[1].keys() == {"type", "text", "state"}
    assert (await stage.replay(turn_id)).shown() == [
        {k: v for k, v in part.items() if k != "state"} for part in answer.parts
    ]
    # Within the turn the model's thoughts go back to it, under the name that they came by.
    said = model.requests[1].messages[-3]
    assert (said.reasoning, said.reasoning_field) == ("Let me think.", "reasoning_content")  # type: ignore[union-attr]
    # To later turns they are nothing.
    later = ScriptedModel([say("Yes.")])
    await stage.ask(world.actor("writer"), "Sure?", later, chat_id=str(answer.chat_id))
    assert all(not getattr(m, "reasoning", "") for m in later.requests[0].messages)


@pytest.mark.req("ST-09")
async def test_the_sums_of_a_turn_are_told_after_each_step_and_at_the_end(
    stage: Stage, world: Any
) -> None:
    async with stage.database.session() as session:
        ai = await session.get_one(AiSettings, world.workspace_id)
        ai.catalogue_seeded = True
        session.add(
            CatalogueModel(
                workspace_id=world.workspace_id,
                driver="offline",
                model="offline",
                input_price=Decimal(3),
                output_price=Decimal(15),
                context_window=50_000,
            )
        )
    steps = [
        [*call(("listPages", {}))[:-2], Usage(1_000, 20), Finished("tool-calls")],
        [TextPiece("Done."), Usage(1_200, 30), Finished("stop")],
    ]
    turn_id = await stage.ask(world.actor("writer"), "Q", ScriptedModel(steps))
    seen = await stage.replay(turn_id)
    told = [c["messageMetadata"] for c in seen.chunks if c["type"] == "message-metadata"]
    assert (told[0]["inputTokens"], told[0]["outputTokens"], told[0]["steps"]) == (1_000, 20, 1)
    finish = seen.chunks[-1]["messageMetadata"]
    assert (finish["inputTokens"], finish["outputTokens"]) == (2_200, 50)
    assert (finish["contextTokens"], finish["contextWindow"]) == (1_230, 50_000)
    assert finish["costInCents"] == pytest.approx(0.735)
    stored = (await stage.answer(turn_id)).meta
    assert {key: stored[key] for key in finish} == finish
    async with stage.database.session() as session:
        row = (await session.scalars(select(Generation))).one()
    assert (row.input_tokens, row.output_tokens, row.status) == (2_200, 50, "success")
    assert row.cost_in_cents == Decimal("0.735")


async def test_a_request_that_is_too_long_for_the_provider_is_made_shorter(
    stage: Stage, world: Any
) -> None:
    async with stage.database.session() as session:
        (await session.get_one(AiSettings, world.workspace_id)).context_window = 26_000
    for number in range(8):
        earlier = ScriptedModel([say(f"Answer {number} " + "because " * 2_000)])
        await stage.ask(world.actor("writer"), f"Question {number}", earlier, alias="c")
    model = ScriptedModel(
        [[ContextTooLongError()], [ContextTooLongError()], say("Now it fits.")],
        small=say("They asked."),
    )
    turn_id = await stage.ask(world.actor("writer"), "And now?", model, alias="c")
    assert (await stage.answer(turn_id)).content == "Now it fits."
    lengths = [sum(len(str(m)) for m in request.messages) for request in model.requests]
    assert lengths[0] > lengths[1] > lengths[2]
    assert all(r.messages[-1] == UserMessage("And now?") for r in model.requests)


async def test_what_cannot_be_made_short_enough_fails_with_its_reason(
    stage: Stage, world: Any
) -> None:
    model = ScriptedModel(forever=[ContextTooLongError()])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "context_too_long")
    assert 1 <= len(model.requests) <= 5


@pytest.mark.req("ST-06")
async def test_a_failed_turn_keeps_what_was_said_and_tells_its_kind(
    stage: Stage, world: Any
) -> None:
    broken = ModelError("The provider broke off.", code="provider_network")
    model = ScriptedModel([[TextPiece("So far, "), broken]])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    answer = await stage.answer(turn_id)
    assert (answer.status, answer.content) == ("error", "So far, ")
    assert answer.meta["errorCode"] == "provider_network"
    seen = await stage.replay(turn_id)
    assert seen.kinds()[-2:] == ["message-metadata", "error"]
    assert seen.chunks[-2]["messageMetadata"]["errorCode"] == "provider_network"
    assert seen.chunks[-1]["errorText"] == "The provider broke off."
    async with stage.database.session() as session:
        row = (await session.scalars(select(Generation))).one()
    assert (row.status, row.error_code) == ("error", "provider_network")


@pytest.mark.req("CH-09")
@pytest.mark.parametrize("script", [[], [call(("listPages", {}))]], ids=["first", "later"])
async def test_a_step_in_which_nothing_was_said_is_neither_shown_nor_stored(
    stage: Stage, world: Any, script: list[Any]
) -> None:
    refused = ModelError("Refused.", code="provider_auth")
    model = ScriptedModel([*script, [Usage(3, 0), refused]])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    parts = (await stage.answer(turn_id)).parts
    assert [part["type"] for part in parts] == ["step-start", "tool-listPages"] * len(script)
    assert [p["type"] for p in (await stage.replay(turn_id)).parts] == [p["type"] for p in parts]


async def test_a_filtered_answer_without_a_word_is_an_error_and_with_words_is_kept(
    stage: Stage, world: Any
) -> None:
    silent = await stage.ask(
        world.actor("writer"), "Q", ScriptedModel([[Finished("content-filter")]])
    )
    assert (await stage.turn(silent)).error_code == "content_filter"
    half = ScriptedModel([[TextPiece("Some words"), Finished("content-filter")]])
    turn = await stage.turn(await stage.ask(world.actor("writer"), "Q", half))
    assert (turn.status, turn.finish_reason) == ("completed", "content-filter")


@pytest.mark.req("BK-03")
async def test_a_turn_that_reaches_the_ceiling_ends_with_an_answer(
    stage: Stage, world: Any
) -> None:
    async with stage.database.session() as session:
        (await session.get_one(AiSettings, world.workspace_id)).token_ceiling = 25
    model = ScriptedModel([call(("listPages", {})), call(("listPages", {})), say("Enough.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    assert [bool(request.tools) for request in model.requests] == [True, True, False]
    turn: Turn = await stage.turn(turn_id)
    assert (turn.status, turn.truncated) == ("completed", True)


@pytest.mark.parametrize(
    "raw",
    [
        '{"limit": 1000000000000000000000000000000}',
        '{"limit": 1e999}',
        '{"limit": NaN}',
        '{"a": ' + "[" * 400 + "]" * 400 + "}",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a\\u0000b": "\\ud83d"}',
        "[1, 2]",
        '"text"',
        "12",
        "null",
    ],
    ids=lambda raw: raw[:24],
)
async def test_no_argument_is_too_odd_to_be_refused_in_words(
    stage: Stage, world: Any, raw: str
) -> None:
    model = ScriptedModel([call(("listPages", raw), ("listPages", {})), say("Ok.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    assert (await stage.turn(turn_id)).status == "completed"
    assert len(outcomes(model)) == 2
    assert any(not failed for _, failed, _ in outcomes(model))
    assert (await stage.replay(turn_id)).kinds().count("tool-input-available") == 2


@pytest.mark.parametrize(
    "extra",
    [
        {"google": {"thought_signature": "a\x00b"}},
        {"n": 10**30},
        {"deep": json.loads("[" * 400 + "]" * 400)},
        {"half": "\ud83d"},
    ],
    ids=["nul", "large", "deep", "half"],
)
async def test_what_a_provider_sends_along_with_a_call_cannot_break_the_turn(
    stage: Stage, world: Any, extra: dict[str, Any]
) -> None:
    step = [CallStart(0, "listPages"), CallArguments(0, "{}"), CallEnd(0, extra)]
    model = ScriptedModel([[*step, Finished("tool-calls")], say("Ok.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    assert (await stage.turn(turn_id)).status == "completed"


async def test_a_providers_mark_on_a_call_comes_back_with_it(stage: Stage, world: Any) -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    step = [CallStart(0, "listPages"), CallArguments(0, "{}"), CallEnd(0, extra)]
    model = ScriptedModel([[*step, Finished("tool-calls")], say("Ok.")])
    await stage.ask(world.actor("writer"), "Q", model)
    (asked,) = (m for m in model.requests[1].messages if getattr(m, "calls", None))
    assert asked.calls[0].extra == extra  # type: ignore[union-attr]


async def test_a_flood_of_calls_is_bounded_and_the_model_is_told(stage: Stage, world: Any) -> None:
    flood = call(*[("listPages", {})] * 300)
    model = ScriptedModel([flood, say("Fewer then.")])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    assert (await stage.turn(turn_id)).status == "completed"
    told = outcomes(model)
    assert len(told) == MAX_STEP_CALLS
    assert [failed for _, failed, _ in told] == [False] * (MAX_STEP_CALLS - 1) + [True]
    assert "236 more were not" in told[-1][2]


async def test_reads_of_one_turn_run_beside_each_other_but_not_all_at_once(
    stage: Stage, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most = 0, 0
    perform = Toolset._perform

    async def counted(*given: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await perform(*given)
        finally:
            running -= 1

    monkeypatch.setattr(Toolset, "_perform", counted)
    model = ScriptedModel([call(*[("listPages", {})] * 30), say("Ok.")])
    await stage.ask(world.actor("writer"), "Q", model)
    assert 1 < most <= TOOL_CALLS_AT_ONCE


@pytest.mark.parametrize("kind", ["text", "arguments", "thoughts"])
async def test_an_answer_that_does_not_end_is_cut_and_what_was_said_is_kept(
    stage: Stage, world: Any, kind: str
) -> None:
    piece = "x" * 100_000
    pieces: dict[str, list[Any]] = {
        "text": [TextPiece(piece)] * 11,
        "thoughts": [ReasoningPiece(piece)] * 11,
        "arguments": [CallStart(0, "listPages"), *[CallArguments(0, piece)] * 11],
    }
    turn_id = await stage.ask(world.actor("writer"), "Q", ScriptedModel([pieces[kind]]))
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "provider_bad_response")
    answer = await stage.answer(turn_id)
    assert len(answer.content) == (1_000_000 if kind == "text" else 0)
    assert len(str(answer.parts)) < 1_100_000


@pytest.mark.req("ST-10")
async def test_a_model_that_says_nothing_is_given_up_whatever_its_server_sends(
    stage: Stage, world: Any
) -> None:
    stage.runtime.settings = stage.runtime.settings.model_copy(
        update={"model_silence_seconds": 0.2}
    )
    never = asyncio.Event()
    model = ScriptedModel([[TextPiece("So far, "), never]])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "provider_timeout")
    assert (await stage.answer(turn_id)).content == "So far, "
    assert model.cancelled == 1


@pytest.mark.req("BK-03")
async def test_an_answer_without_numbers_is_counted_by_ourselves(stage: Stage, world: Any) -> None:
    broken = ModelError("broke off", code="provider_network")
    model = ScriptedModel([[TextPiece("because " * 50), broken]])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    meta = (await stage.answer(turn_id)).meta
    assert 50 <= meta["outputTokens"] <= 70
    assert meta["inputTokens"] > 100  # the frame and the tools
    refused = ScriptedModel([[ModelError("no", code="provider_auth")]])
    nothing = await stage.answer(await stage.ask(world.actor("writer"), "Q", refused))
    assert (nothing.meta["inputTokens"], nothing.meta["outputTokens"]) == (0, 0)


@pytest.mark.req("LP-02")
async def test_an_answer_cut_by_the_provider_says_so_and_can_go_on(
    stage: Stage, world: Any
) -> None:
    cut = ScriptedModel([[TextPiece("Half an ans"), Usage(5, 5), Finished("length")]])
    turn_id = await stage.ask(world.actor("writer"), "Q", cut, alias="c")
    assert (await stage.answer(turn_id)).meta["truncated"] is True
    rest = ScriptedModel([say("wer.")])
    await stage.ask(world.actor("writer"), "", rest, alias="c", trigger="continue")
    rest.assert_consumed()


async def test_thoughts_alone_are_no_answer(stage: Stage, world: Any) -> None:
    model = ScriptedModel([[ReasoningPiece("Hm."), Usage(5, 5), Finished("stop")]])
    turn_id = await stage.ask(world.actor("writer"), "Q", model)
    turn = await stage.turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "provider_bad_response")
    assert (await stage.answer(turn_id)).parts[1]["text"] == "Hm."
