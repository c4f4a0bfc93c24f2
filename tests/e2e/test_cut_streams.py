"""Readers that leave early: nothing grows, nothing is lost."""

import asyncio

import httpx2
import pytest

from bench.cluster import Cluster, Person
from bench.soak.watch import memory
from tests.fakes.installation import wait_for

pytestmark = pytest.mark.slow

PEOPLE, EACH = 20, 10
PATIENCE_SECONDS = 300.0  # fifteen on an idle machine; a busy one is no fault of what is tested
AT_ONCE = 25  # sends: two hundred at one instant would be a test of the machine


async def _ask_and_leave(cluster: Cluster, people: list[Person], series: str) -> None:
    """Two hundred streams, each cut after its first bytes."""
    slots = asyncio.Semaphore(AT_ONCE)
    url = f"{cluster.url('api-1')}/v1/ai/chat/tenant"

    async def one(client: httpx2.AsyncClient, person: Person, trial: str) -> None:
        parts = [{"type": "text", "text": f"trial={trial} plan=talk words=40 pause=0.05"}]
        body = {"id": trial, "messages": [{"id": trial, "role": "user", "parts": parts}]}
        send = client.stream("POST", url, json=body, headers=person.headers)
        async with slots, send as response:
            assert response.status_code == 200
            async for _ in response.aiter_bytes():
                return

    limits = httpx2.Limits(max_connections=PEOPLE * EACH)
    async with httpx2.AsyncClient(timeout=60, limits=limits, trust_env=False) as client:
        asking = (
            one(client, person, f"{series}-{number}-{n}")
            for number, person in enumerate(people)
            for n in range(EACH)
        )
        await asyncio.gather(*asking)


@pytest.mark.req("ST-05")
def test_two_hundred_streams_cut_early_leave_no_memory_behind_and_lose_no_answer() -> None:
    with Cluster(apis=1, chats=1) as cluster:
        people = cluster.people(PEOPLE)
        pid = cluster.pid("api-1")
        assert pid is not None
        asyncio.run(_ask_and_leave(cluster, people, "warm"))  # pools and caches fill
        cluster.wait_rest(PATIENCE_SECONDS)
        before = memory(pid)
        asyncio.run(_ask_and_leave(cluster, people, "cut"))
        cluster.wait_rest(PATIENCE_SECONDS)
        wait_for(lambda: memory(pid) <= 1.1 * before, 30, "the API's memory is what it was")
        ends = cluster.sql(
            "SELECT t.status, m.status, count(*) FROM turns t"
            " JOIN ai_chat_messages m ON m.id = t.assistant_message_id GROUP BY 1, 2"
        )
        assert ends == [("completed", "complete", 2 * PEOPLE * EACH)]
        assert cluster.pid("api-1") == pid
