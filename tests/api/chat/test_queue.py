"""Messages that wait while an answer is being written, as a client of the API sees them."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from sqlalchemy import func, select, update

from shared.accounts.people import create_api_key
from shared.chat.models import Chat, QueuedSend, Turn
from shared.core.db import Database
from shared.core.tunables import CHAT_SENDS_PER_MINUTE, MAX_QUEUED_SENDS
from shared.providers.models import AiSettings
from tests.api.chat.test_chat_choices import end_turns, newest_turn
from tests.api.chat.test_chat_routes import TENANT, Talk, ask, rows


class Queue:
    """One person's chat that the person calls "c", and what waits in it."""

    def __init__(self, client: Any, headers: dict[str, str]) -> None:
        self.client, self.headers = client, headers
        self.talk = Talk(client, headers)

    async def begin(self, text: str = "First?") -> dict[str, Any]:
        """Ask; nothing answers, so the answer goes on being written."""
        return await self.talk.begin(ask(text, id="c", message="first"))

    async def post(self, text: str, how: str = "queue", **more: Any) -> Any:
        body = {"id": "c", "message": text, "whenRunning": how} | more
        return await self.client.post(TENANT, json=ask(text, **body), headers=self.headers)

    async def add(self, text: str, how: str = "queue") -> str:
        """Let a message wait; its id."""
        answer = await self.post(text, how)
        assert answer.status_code == 202, answer.text
        queued: dict[str, Any] = answer.json()["queued"]
        assert set(queued) == {"id", "text", "createdAt", "error"}
        return str(queued["id"])

    async def listed(self, chat: str = "c") -> dict[str, Any]:
        answer = await self.client.get(f"/v1/ai/chats/{chat}/queue", headers=self.headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def texts(self) -> list[str]:
        return [item["text"] for item in (await self.listed())["items"]]

    async def remove(self, item: str) -> Any:
        return await self.client.delete(f"/v1/ai/chats/c/queue/{item}", headers=self.headers)

    async def now(self, item: str) -> Any:
        return await self.client.post(f"/v1/ai/chats/c/queue/{item}/now", headers=self.headers)


@pytest.fixture
def queue(live_client: Any, world: Any) -> Queue:
    return Queue(live_client, world.headers("writer"))


async def items(database: Database) -> list[QueuedSend]:
    async with database.session() as session:
        return list(await session.scalars(select(QueuedSend).order_by(QueuedSend.id)))


async def test_what_is_sent_during_an_answer_waits_in_order_and_can_be_taken_back(
    queue: Queue,
) -> None:
    start = await queue.begin()
    second, third = await queue.add("Second?"), await queue.add("Third?")
    assert await queue.texts() == ["Second?", "Third?"]
    chat_id = start["messageMetadata"]["chatId"]
    listed = await queue.listed(chat_id)
    assert [item["id"] for item in listed["items"]] == [second, third]
    assert [item["error"] for item in listed["items"]] == [None, None]
    assert listed["held"] is False
    assert (await queue.remove(second)).status_code == 204
    again = await queue.remove(second)
    assert (again.status_code, again.json()["error"]) == (404, "queued_message_not_found")
    assert await queue.texts() == ["Third?"]


async def test_a_client_that_does_not_let_its_message_wait_is_refused_as_before(
    queue: Queue, database: Database
) -> None:
    start = await queue.begin()
    for how in ({}, {"whenRunning": "refuse"}):
        body = ask("Second?", id="c", message="m2", **how)
        refused = await queue.client.post(TENANT, json=body, headers=queue.headers)
        assert (refused.status_code, refused.json()["error"]) == (409, "turn_running")
        metadata = start["messageMetadata"]
        assert refused.json()["details"] == {
            "turnId": metadata["turnId"],
            "chatId": metadata["chatId"],
        }
    unknown = await queue.post("Second?", "perhaps")
    assert unknown.status_code == 422
    assert await items(database) == []


async def test_where_nothing_runs_a_patient_message_is_answered_at_once(queue: Queue) -> None:
    for number, how in enumerate(("queue", "interrupt")):
        body = ask("First?", id=f"c{number}", whenRunning=how)
        assert (await queue.talk.begin(body))["type"] == "start"
    assert (await queue.listed("c0")) == {"items": [], "held": False}


async def test_the_same_request_again_finds_the_message_that_waits(
    queue: Queue, database: Database
) -> None:
    await queue.begin()
    ids = await asyncio.gather(*(queue.add("Second?") for _ in range(10)))
    assert len(set(ids)) == 1
    assert await rows(database, QueuedSend) == 1
    other = ask("Other words", id="c", message="Second?", whenRunning="queue")
    assert (
        await queue.client.post(TENANT, json=other, headers=queue.headers)
    ).status_code == 202  # an id alone does not identify a message
    assert await queue.texts() == ["Second?", "Other words"]


async def test_a_message_that_waits_is_sent_once_when_its_client_sends_it_after_all(
    queue: Queue, database: Database
) -> None:
    await queue.begin()
    await queue.add("Second?")
    await end_turns(database)
    body = ask("Second?", id="c", message="Second?")
    assert (await queue.talk.begin(body))["type"] == "start"
    assert await items(database) == []
    assert await rows(database, Turn) == 2


async def test_a_queue_belongs_to_its_chats_owner_alone(queue: Queue, world: Any) -> None:
    start = await queue.begin()
    item = await queue.add("Second?")
    for who in ("owner", "reader", "other"):
        headers = world.headers(who)
        for chat in (start["messageMetadata"]["chatId"], "c", str(uuid4())):
            at = f"/v1/ai/chats/{chat}/queue"
            answers = [
                await queue.client.get(at, headers=headers),
                await queue.client.delete(f"{at}/{item}", headers=headers),
                await queue.client.post(f"{at}/{item}/now", headers=headers),
            ]
            assert {answer.status_code for answer in answers} == {404}
            assert {answer.json()["error"] for answer in answers} == {"chat_not_found"}
    # In another chat of the same person the message is not found either.
    elsewhere = await queue.talk.begin(ask("Elsewhere", id="d"))
    at = f"/v1/ai/chats/{elsewhere['messageMetadata']['chatId']}/queue/{item}"
    assert (await queue.client.delete(at, headers=queue.headers)).status_code == 404
    assert (await queue.client.post(f"{at}/now", headers=queue.headers)).status_code == 404
    assert await queue.texts() == ["Second?"]


async def test_a_chat_holds_only_so_many_messages_that_wait(
    queue: Queue, database: Database
) -> None:
    await queue.begin()
    for number in range(MAX_QUEUED_SENDS):
        await queue.add(f"Message {number}")
    full = await queue.post("One too many")
    assert (full.status_code, full.json()["error"]) == (409, "queue_full")
    assert full.json()["details"] == {"limit": MAX_QUEUED_SENDS}
    assert await rows(database, QueuedSend) == MAX_QUEUED_SENDS
    await queue.add("Message 3")  # the same request again is none more


async def test_messages_that_wait_count_as_questions(queue: Queue) -> None:
    await queue.begin()
    for _ in range(CHAT_SENDS_PER_MINUTE - 1):
        assert (await queue.post("Second?")).status_code == 202
    refused = await queue.post("Second?")
    assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")


async def test_only_a_new_message_can_wait(queue: Queue, database: Database) -> None:
    answer = (await queue.begin())["messageId"]
    await end_turns(database)
    await queue.talk.begin(ask("Next?", id="c", message="next"))
    for change in (
        {"trigger": "regenerate-message", "messageId": answer},
        {"continue": True},
        {"message": "first", "messageId": "first"},  # the question in other words
    ):
        refused = await queue.post("Second?", "interrupt", **change)
        assert (refused.status_code, refused.json()["error"]) == (409, "turn_running"), change
    assert await items(database) == []
    assert (await newest_turn(database)).stop_requested_at is None


async def test_what_a_gate_refuses_now_is_not_let_wait(
    queue: Queue, world: Any, database: Database
) -> None:
    await queue.begin()
    for answer, status, code in (
        (await queue.post("Second?", model="gpt-unknown"), 400, "unknown_model"),
        (await queue.post("  "), 422, "empty_prompt"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (status, code)
    async with database.session() as session:
        secret = await create_api_key(session, world.email("writer"), "a program")
    program = Queue(queue.client, {"authorization": f"Bearer {secret}"})
    refused = await program.post("Second?")
    assert (refused.status_code, refused.json()["error"]) == (400, "session_required")
    item = await queue.add("Second?")
    assert await program.texts() == ["Second?"]
    assert (await program.now(item)).json()["error"] == "session_required"
    async with database.session() as session:
        await session.execute(update(AiSettings).values(chat_enabled=False))
    assert (await queue.post("Third?")).json()["error"] == "chat_disabled"
    assert [row.text for row in await items(database)] == ["Second?"]


async def test_an_interrupting_message_stops_the_answer_and_goes_first(
    queue: Queue, database: Database
) -> None:
    """No worker has taken the turn, so it ends at once; its reader is told why."""
    body = ask("First?", id="c", message="first")
    async with queue.client.stream("POST", TENANT, json=body, headers=queue.headers) as response:
        lines = response.aiter_lines()
        await anext(lines)
        await queue.add("Second?")
        await queue.add("At once!", "interrupt")
        chunks = [orjson.loads(line[6:]) async for line in lines if line.startswith("data: {")]
    assert chunks[-1]["finishReason"] == "interrupted"
    assert chunks[-1]["messageMetadata"]["stopReason"] == "interrupted"
    assert await queue.texts() == ["At once!", "Second?"]
    turn = await newest_turn(database)
    assert (turn.status, turn.stop_reason) == ("aborted", "interrupted")
    messages = await queue.client.get(
        f"/v1/ai/chats/{turn.chat_id}/messages", headers=queue.headers
    )
    answer = messages.json()["items"][-1]
    assert (answer["status"], answer["metadata"]["stopReason"]) == ("aborted", "interrupted")


async def test_send_now_hurries_a_message_and_stops_the_answer_for_it(
    queue: Queue, database: Database
) -> None:
    await queue.begin()
    await queue.add("Second?")
    item = await queue.add("Third?")
    answer = await queue.now(item)
    assert (answer.status_code, answer.json()["queued"]["id"]) == (202, item)
    assert await queue.texts() == ["Third?", "Second?"]
    turn = await newest_turn(database)
    assert (turn.status, turn.stop_reason) == ("aborted", "interrupted")
    assert (await queue.listed())["held"] is False
    assert (await queue.now(str(uuid4()))).json()["error"] == "queued_message_not_found"


async def test_after_a_stop_by_its_person_the_queue_is_held(queue: Queue) -> None:
    await queue.begin()
    item = await queue.add("Second?")
    stopped = await queue.client.post(f"{TENANT}/c/stop", headers=queue.headers)
    assert stopped.json()["stopped"] is True
    assert (await queue.listed())["held"] is True
    assert (await queue.now(item)).status_code == 202
    assert (await queue.listed())["held"] is False


async def test_a_new_message_does_not_wait_behind_a_queue_that_is_held(queue: Queue) -> None:
    await queue.begin()
    await queue.add("Second?")
    await queue.client.post(f"{TENANT}/c/stop", headers=queue.headers)
    body = ask("Instead?", id="c", message="m3", whenRunning="queue")
    assert (await queue.talk.begin(body))["type"] == "start"
    assert await queue.texts() == ["Second?"]
    assert (await queue.listed())["held"] is False  # it follows the new answer


async def test_a_new_message_waits_behind_those_that_are_about_to_be_sent(
    queue: Queue, database: Database
) -> None:
    await queue.begin()
    await queue.add("Second?")
    await end_turns(database)
    await queue.add("Third?")
    assert await queue.texts() == ["Second?", "Third?"]


async def test_what_waits_in_a_chat_goes_with_it(queue: Queue, database: Database) -> None:
    start = await queue.begin()
    await queue.add("Second?")
    chat = UUID(start["messageMetadata"]["chatId"])
    gone = await queue.client.delete(f"/v1/ai/chats/{chat}", headers=queue.headers)
    assert gone.status_code == 204
    assert await items(database) == []
    async with database.session() as session:
        assert await session.scalar(select(func.count()).select_from(Chat)) == 1
