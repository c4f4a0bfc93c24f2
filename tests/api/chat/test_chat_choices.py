"""What a person chooses in a chat: the model, the branch; and what a workspace bounds."""

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, update

from shared.chat.models import Chat, Generation, Message, Turn
from shared.core.db import Database
from shared.core.tunables import CHAT_SENDS_PER_MINUTE
from shared.providers.models import AiSettings, CatalogueModel, ProviderCredential
from tests.api.chat.test_chat_routes import TENANT, Talk, ask


@pytest.fixture
def talk(live_client: Any, world: Any) -> Any:
    return lambda name: Talk(live_client, world.headers(name))


@pytest.fixture
async def models(database: Database, world: Any) -> None:
    """A workspace with a default model, an allowed one and one that is not allowed."""
    async with database.session() as session:
        ai = await session.get_one(AiSettings, world.workspace_id)
        ai.driver, ai.chat_model, ai.catalogue_seeded = "ollama", "big", True
        session.add(
            ProviderCredential(
                workspace_id=world.workspace_id, driver="ollama", base_url="http://127.0.0.1:9/v1"
            )
        )
        for name, allowed in (("small", True), ("closed", False)):
            session.add(
                CatalogueModel(
                    workspace_id=world.workspace_id,
                    driver="ollama",
                    model=name,
                    allowed=allowed,
                    context_window=9_000,
                )
            )


async def end_turns(database: Database) -> None:
    """As if a worker had ended every answer."""
    async with database.session() as session:
        await session.execute(update(Turn).values(status="completed"))
        await session.execute(
            update(Message).where(Message.role == "assistant").values(status="complete")
        )


async def newest_turn(database: Database) -> Turn:
    async with database.session() as session:
        turn = await session.scalar(select(Turn).order_by(Turn.created_at.desc()).limit(1))
    assert turn is not None
    return turn


@pytest.mark.req("PV-10", "BK-02")
async def test_an_offered_model_is_used_and_kept_and_another_is_refused(
    talk: Any, models: None, database: Database
) -> None:
    writer = talk("writer")
    assert await writer.refused(ask("Q", id="c", model="closed")) == (400, "unknown_model")
    assert await writer.refused(ask("Q", id="c", model="nobody")) == (400, "unknown_model")
    start = await writer.begin(ask("Q", id="c", model="small"))
    assert start["messageMetadata"]["model"] == "small"
    turn = await newest_turn(database)
    assert (turn.model, turn.context_window) == ("small", 9_000)
    await end_turns(database)
    await writer.begin(ask("Next", id="c", message="m2"))
    assert (await newest_turn(database)).model == "small"
    await end_turns(database)
    # No longer offered: the chat goes on with the workspace's model.
    async with database.session() as session:
        await session.execute(update(CatalogueModel).values(allowed=False))
    await writer.begin(ask("And", id="c", message="m3"))
    assert (await newest_turn(database)).model == "big"


async def test_a_chats_model_can_be_chosen_before_the_next_question(
    talk: Any, models: None, live_client: Any, world: Any
) -> None:
    start = await talk("writer").begin(ask("Q", id="c"))
    url = f"/v1/ai/chats/{start['messageMetadata']['chatId']}"
    headers = world.headers("writer")
    chosen = await live_client.patch(url, json={"model": "small"}, headers=headers)
    assert chosen.json()["model"] == "small"
    refused = await live_client.patch(url, json={"model": "closed"}, headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (400, "unknown_model")
    assert (await live_client.get(url, headers=headers)).json()["model"] == "small"


@pytest.mark.req("BK-03")
async def test_a_chat_that_has_used_its_tokens_takes_no_more_questions(
    talk: Any, live_client: Any, world: Any, database: Database
) -> None:
    writer = talk("writer")
    start = await writer.begin(ask("Q", id="c"))
    await end_turns(database)
    async with database.session() as session:
        await session.execute(update(AiSettings).values(token_ceiling=1_000))
        await session.execute(update(Generation).values(input_tokens=900, output_tokens=99))
    chat_id = start["messageMetadata"]["chatId"]
    headers = world.headers("writer")
    item = (await live_client.get(f"/v1/ai/chats/{chat_id}", headers=headers)).json()
    assert (item["tokensUsed"], item["tokenCeiling"]) == (999, 1_000)
    await writer.begin(ask("Still", id="c", message="m2"))
    await end_turns(database)
    async with database.session() as session:
        await session.execute(update(Generation).values(output_tokens=100))
    refused = await live_client.post(
        TENANT, json=ask("More", id="c", message="m3"), headers=headers
    )
    assert (refused.status_code, refused.json()["error"]) == (403, "token_ceiling")
    assert "begin a new one" in refused.json()["message"]
    listed = (await live_client.get("/v1/ai/chats", headers=headers)).json()["items"]
    assert listed[0]["tokensUsed"] == 1_100
    await talk("writer").begin(ask("Elsewhere", id="d"))  # another chat has its own


@pytest.mark.req("LP-08")
async def test_the_26th_question_in_a_minute_is_refused_and_nobody_else_is(
    app: Any, talk: Any, live_client: Any, world: Any
) -> None:
    headers = world.headers("writer")
    for number in range(CHAT_SENDS_PER_MINUTE):
        # Refused for its own reason, and counted all the same.
        answer = await live_client.post(TENANT, json=ask(" ", id=f"c{number}"), headers=headers)
        assert answer.status_code == 422
    refused = await live_client.post(TENANT, json=ask("Q", id="c"), headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 61
    assert (await talk("reader").begin(ask("Q", id="r")))["type"] == "start"


async def test_branches_are_told_with_the_messages_and_can_be_shown(
    talk: Any, live_client: Any, world: Any, database: Database
) -> None:
    writer, headers = talk("writer"), world.headers("writer")
    start = await writer.begin(ask("One?", id="c"))
    await end_turns(database)
    chat_url = f"/v1/ai/chats/{start['messageMetadata']['chatId']}"

    async def messages() -> list[dict[str, Any]]:
        answer = await live_client.get(f"{chat_url}/messages", headers=headers)
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    first = await messages()
    assert [m["branch"] for m in first] == [None, None]
    assert first[1]["parentId"] == first[0]["id"]
    # The stored message's own id names it as well as the client's.
    edit = ask("Two?", id="c", message=first[0]["id"], messageId=first[0]["id"])
    await writer.begin(edit)
    await end_turns(database)
    second = await messages()
    assert [p["text"] for p in second[0]["parts"]] == ["Two?"]
    ids = [first[0]["id"], second[0]["id"]]
    assert second[0]["branch"] == {"index": 1, "ids": ids}
    shown = await live_client.post(
        f"{chat_url}/branch", json={"messageId": ids[0]}, headers=headers
    )
    assert shown.status_code == 204
    assert [m["id"] for m in await messages()] == [m["id"] for m in first]

    foreign = await live_client.post(
        f"{chat_url}/branch", json={"messageId": ids[1]}, headers=world.headers("reader")
    )
    unknown = await live_client.post(
        f"{chat_url}/branch", json={"messageId": str(uuid4())}, headers=headers
    )
    assert (foreign.json()["error"], unknown.json()["error"]) == (
        "chat_not_found",
        "message_not_found",
    )


async def test_a_message_of_another_chat_is_no_branch_of_this_one(
    talk: Any, live_client: Any, world: Any, database: Database
) -> None:
    starts = [await talk("writer").begin(ask("Q", id=name)) for name in ("c", "d")]
    await end_turns(database)
    chats = [start["messageMetadata"]["chatId"] for start in starts]
    answer = await live_client.post(
        f"/v1/ai/chats/{chats[0]}/branch",
        json={"messageId": starts[1]["messageId"]},
        headers=world.headers("writer"),
    )
    assert (answer.status_code, answer.json()["error"]) == (404, "message_not_found")
    async with database.session() as session:
        heads = set(await session.scalars(select(Chat.head_id)))
    assert {str(head) for head in heads} == {start["messageId"] for start in starts}


async def test_chats_of_a_page_are_found_by_it(
    talk: Any, live_client: Any, world: Any, database: Database
) -> None:
    page = await live_client.post(
        "/v1/pages",
        json={"spaceId": str(world.space("WIKI")), "title": "P"},
        headers=world.headers("writer"),
    )
    page_id = page.json()["id"]
    await talk("writer").begin(ask("On the page", id="c", pageId=page_id))
    await talk("writer").begin(ask("Elsewhere", id="d"))
    answer = await live_client.get(
        f"/v1/ai/chats?pageId={page_id}", headers=world.headers("writer")
    )
    assert [item["title"] for item in answer.json()["items"]] == ["On the page"]


async def test_continue_is_refused_where_nothing_was_cut(
    talk: Any, live_client: Any, world: Any, database: Database
) -> None:
    await talk("writer").begin(ask("Q", id="c"))
    await end_turns(database)
    assert await talk("writer").refused({"id": "c", "continue": True}) == (
        409,
        "nothing_to_continue",
    )
    assert await talk("writer").refused({"id": "new", "continue": True}) == (
        404,
        "chat_not_found",
    )


async def test_a_message_that_is_not_there_cannot_be_asked_again_in_other_words(
    talk: Any, live_client: Any, world: Any, database: Database
) -> None:
    writer = talk("writer")
    await writer.begin(ask("Q", id="c"))
    other = await writer.begin(ask("Q", id="d", message="m9"))
    await end_turns(database)
    for target in (str(uuid4()), other["messageId"], "zz"):
        refused = await writer.refused(ask("Other words", id="c", message="m2", messageId=target))
        assert refused == (404, "message_not_found")
    # What the client sends under its own id may be a first try that never arrived.
    await writer.begin(ask("Next", id="c", message="m2", messageId="m2"))
    assert await writer.refused({"id": "c", "continue": True}) == (409, "turn_running")
