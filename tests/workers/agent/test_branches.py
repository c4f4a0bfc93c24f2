"""Messages as a tree: asking again, answering again, and what stands beside the shown branch."""

from typing import Any
from uuid import UUID

import pytest

from shared.chat import branches
from shared.chat.errors import MessageNotFoundError, NothingToContinueError, TurnRunningError
from shared.chat.models import Chat, Message
from tests.fakes.scripted_model import ScriptedModel, call, say
from tests.fakes.turns import Stage


async def shown(stage: Stage, chat_id: UUID) -> list[Message]:
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        return await branches.branch(session, chat.head_id)


async def texts(stage: Stage, chat_id: UUID) -> list[str]:
    return [message.content for message in await shown(stage, chat_id)]


async def chat_of(stage: Stage, turn_id: UUID) -> UUID:
    return (await stage.turn(turn_id)).chat_id


async def test_a_question_in_other_words_begins_a_branch_and_the_old_one_stays(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    first = await stage.ask(writer, "A?", ScriptedModel([say("a")]), alias="c", message_id="m1")
    await stage.ask(writer, "B?", ScriptedModel([say("b")]), alias="c", message_id="m2")
    model = ScriptedModel([say("a2")])
    await stage.ask(writer, "A2?", model, alias="c", message_id="m1", target_id="m1")
    chat_id = await chat_of(stage, first)
    assert await texts(stage, chat_id) == ["A2?", "a2"]
    # The model was told of the branch alone.
    assert [m.text for m in model.requests[0].messages] == ["A2?"]  # type: ignore[union-attr]
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        rows = await branches.branch(session, chat.head_id)
        beside = await branches.beside(session, chat, rows)
        old = beside[rows[0].id].siblings[0]
        await branches.show(session, chat, old)
    assert await texts(stage, chat_id) == ["A?", "a", "B?", "b"]


async def test_the_same_words_again_find_the_branch_that_they_began(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    first = await stage.ask(writer, "A?", ScriptedModel([say("a")]), alias="c", message_id="m1")
    edit = {"alias": "c", "message_id": "m1", "target_id": "m1"}
    second = await stage.ask(writer, "A2?", ScriptedModel([say("a2")]), **edit)
    assert await stage.send(writer, "A2?", **edit) == second
    chat_id = await chat_of(stage, first)
    # Back to the first words: a third branch, not a repeat of the first.
    third = await stage.ask(writer, "A?", ScriptedModel([say("a3")]), **edit)
    assert third not in (first, second)
    assert await texts(stage, chat_id) == ["A?", "a3"]
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        await branches.show(session, chat, (await stage.turn(first)).user_message_id)
    # From the first question, the words of the second one: they were answered already.
    assert await stage.send(writer, "A2?", **edit) == second
    assert await texts(stage, chat_id) == ["A2?", "a2"]


async def test_another_answer_stands_beside_the_first_and_a_repeated_wish_makes_no_third(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    first = await stage.ask(writer, "Q?", ScriptedModel([say("one")]), alias="c", message_id="m1")
    answer = str((await stage.turn(first)).assistant_message_id)
    again = {"trigger": "regenerate-message", "alias": "c", "target_id": answer}
    second = await stage.send(writer, "Q?", **again)
    assert await stage.send(writer, "Q?", **again) == second
    await stage.play(second, ScriptedModel([say("two")]))
    assert await stage.send(writer, "Q?", **again) == second
    chat_id = await chat_of(stage, first)
    assert await texts(stage, chat_id) == ["Q?", "two"]
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        await branches.show(session, chat, UUID(answer))
    third = await stage.ask(writer, "Q?", ScriptedModel([say("three")]), **again)
    assert third not in (first, second)
    rows = await shown(stage, chat_id)
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        beside = await branches.beside(session, chat, rows)
    assert len(beside[rows[1].id].siblings) == 3
    assert rows[0].id not in beside


async def test_an_earlier_answer_is_made_anew_with_what_came_before_it_alone(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    first = await stage.ask(writer, "A?", ScriptedModel([say("a")]), alias="c", message_id="m1")
    await stage.ask(writer, "B?", ScriptedModel([say("b")]), alias="c", message_id="m2")
    model = ScriptedModel([say("another a")])
    answer = str((await stage.turn(first)).assistant_message_id)
    await stage.ask(writer, "A?", model, alias="c", trigger="regenerate-message", target_id=answer)
    assert len(model.requests[0].messages) == 1
    assert await texts(stage, await chat_of(stage, first)) == ["A?", "another a"]


async def test_what_a_hidden_branch_changed_in_pages_is_told(stage: Stage, world: Any) -> None:
    writer = world.actor("writer")
    make = call(("createPage", {"spaceId": str(world.space("WIKI")), "title": "Leave"}))
    first = await stage.ask(
        writer, "Make it", ScriptedModel([make, say("Done.")]), alias="c", message_id="m1"
    )
    await stage.ask(
        writer,
        "Make it",
        ScriptedModel([say("No.")]),
        alias="c",
        trigger="regenerate-message",
        target_id=str((await stage.turn(first)).assistant_message_id),
    )
    made = await stage.answer(first)
    assert [(c["title"], c["action"], c["version"]) for c in made.meta["changes"]] == [
        ("Leave", "created", 1)
    ]
    chat_id = await chat_of(stage, first)
    rows = await shown(stage, chat_id)
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, chat_id)
        beside = await branches.beside(session, chat, rows)
    assert beside[rows[1].id].hidden_changes == made.meta["changes"]


async def test_a_branch_is_not_switched_while_an_answer_is_written(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    turn_id = await stage.send(writer, "Q?", alias="c", message_id="m1")
    turn = await stage.turn(turn_id)
    async with stage.database.session() as session:
        chat = await session.get_one(Chat, turn.chat_id)
        with pytest.raises(TurnRunningError):
            await branches.show(session, chat, turn.user_message_id)
        with pytest.raises(MessageNotFoundError):
            await branches.show(session, chat, UUID(int=7))


@pytest.mark.req("LP-02")
async def test_continue_goes_on_from_what_is_stored_without_a_new_question(
    stage: Stage, world: Any
) -> None:
    writer = world.actor("writer")
    model = ScriptedModel(forever=call(("listPages", {})))
    first = await stage.send(writer, "Q?", alias="c", message_id="m1")
    # The last request has no tools: the script answers it in words.
    model.script = [*[call(("listPages", {}))] * 8, say("So far.")]
    await stage.play(first, model)
    cut = await stage.answer(first)
    assert cut.meta["truncated"] is True
    going_on = ScriptedModel([say("The rest.")])
    wish = {"alias": "c", "trigger": "continue"}
    second = await stage.send(writer, "", **wish)
    with pytest.raises(TurnRunningError):
        await stage.send(writer, "New question", alias="c", message_id="m2")
    await stage.play(second, going_on)
    assert await stage.send(writer, "", **wish) == second
    said = [m.text for m in going_on.requests[0].messages if hasattr(m, "text")]
    assert said[0] == "Q?"
    assert said[-1] == "Go on from where you stopped."
    assert said.count("Q?") == 1
    rows = await shown(stage, await chat_of(stage, first))
    assert [m.role for m in rows] == ["user", "assistant", "assistant"]


async def test_there_is_nothing_to_continue_after_a_whole_answer(stage: Stage, world: Any) -> None:
    writer = world.actor("writer")
    await stage.ask(writer, "Q?", ScriptedModel([say("All.")]), alias="c", message_id="m1")
    with pytest.raises(NothingToContinueError):
        await stage.send(writer, "", alias="c", trigger="continue")
