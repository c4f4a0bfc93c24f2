"""Ordinary requests while two thousand turns wait for a slow model.

    .venv/bin/python -m bench.backlog

The model says a word now and then, so that the queue is there for five minutes. Printed are the
times of ordinary requests without and with the queue, and how often each turn was enqueued.
Exit code 1 when a turn was enqueued twice, did not complete, or a request took more than three
times as long as without.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from uuid import uuid4

import httpx2
import psycopg

from bench.people import Member, add_members
from ops.home import read_json
from tests.fakes.installation import Installation, make_page, wait_for
from tests.fakes.llm_script import DONE, Action, Reply, finish, stream, text, usage
from tests.fakes.llm_stub import Recorded, StubThread

SECRET = "backlog-" + "0" * 40
TURNS = 2_000
PEOPLE = 100  # each may ask 25 times a minute
ANSWER_SECONDS = 30.0  # 200 turns at a time: the queue lasts five minutes
WORD_SECONDS = 0.5
AT_ONCE = 16  # sends
SLOWER = 3.0  # times the idle time that a request may take
PAUSE_SECONDS = 0.1  # between two ordinary requests
IDLE_ROUNDS = 120

Request = Callable[[], Awaitable[httpx2.Response]]


def answer(_: Recorded) -> Reply:
    actions: list[Action] = []
    for _ in range(int(ANSWER_SECONDS / WORD_SECONDS)):
        actions += [*text("word "), WORD_SECONDS]
    return stream(actions, finish(), usage(10, 60), DONE)


def main() -> int:
    parser = argparse.ArgumentParser(description="Ordinary requests beside a queue of turns.")
    parser.add_argument("--turns", type=int, default=TURNS)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="pageturn-backlog-"))
    folder.chmod(0o755)
    extra = {"APP_SECRET": SECRET, "PAGETURN_PRIVATE_MODELS": "true"}
    installation = Installation(folder / "home", extra=extra)
    try:
        with StubThread(fallback=answer) as stub:
            installation.start()
            bench = Bench(installation, stub.url)
            held = asyncio.run(bench.run(arguments.turns))
    finally:
        if installation.process is not None:
            installation.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if held else 1


class Bench:
    def __init__(self, installation: Installation, model_url: str) -> None:
        owner = installation.sign_in()
        settings = {
            "driver": "openai-compatible",
            "baseUrl": model_url,
            "apiKey": "not-needed-here",
            "chatModel": "stub",
        }
        owner.patch("/v1/workspace/ai-settings", json=settings).raise_for_status()
        self.pages = [
            make_page(owner, f"Page {n}", f"## Part\n\nThe river {n} is quiet.") for n in range(20)
        ]
        self.url = installation.url
        self.owner = owner.headers["authorization"]
        state = read_json(installation.home / "run" / "state.json")
        self.database = state["database_url"].replace("postgresql+psycopg://", "postgresql://")
        self.members = add_members(self.database, SECRET, PEOPLE)

    async def run(self, turns: int) -> bool:
        headers = {"authorization": self.owner}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=60) as client:
            requests = self._requests(client)
            for request in requests.values():
                await request()  # nothing is measured cold
            idle = await self._measure(requests, rounds=IDLE_ROUNDS)
            begun = time.monotonic()
            sending = asyncio.create_task(self._send(turns))
            busy: dict[str, list[float]] = {name: [] for name in requests}
            longest = 0
            while not sending.done() or self._waiting():
                for name, times in (await self._measure(requests, rounds=5)).items():
                    busy[name] += times
                longest = max(longest, self._waiting())
            lasted = time.monotonic() - begun
            await sending
            await asyncio.to_thread(wait_for, lambda: not self._active(), 300, "every turn ends")
        print(f"{turns} turns, at most {longest} of them in the queue, {lasted:.0f} s of backlog")
        return self._report(idle, busy) & self._counted(turns)

    def _requests(self, client: httpx2.AsyncClient) -> dict[str, Request]:
        page, space = self.pages[0]["id"], self.pages[0]["spaceId"]
        return {
            "open a page": lambda: client.get(f"/v1/pages/{page}"),
            "a level of the tree": lambda: client.get(f"/v1/spaces/{space}/tree"),
            "search": lambda: client.get("/v1/search", params={"q": "quiet river"}),
            "list the chats": lambda: client.get("/v1/ai/chats"),
            "save a page": lambda: client.patch(
                f"/v1/pages/{page}", json={"markdown": f"The river {uuid4()} is quiet."}
            ),
        }

    async def _measure(
        self, requests: dict[str, Request], *, rounds: int
    ) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {name: [] for name in requests}
        for _ in range(rounds):
            for name, request in requests.items():
                begun = time.perf_counter()
                response = await request()
                times[name].append(time.perf_counter() - begun)
                response.raise_for_status()
                await asyncio.sleep(PAUSE_SECONDS)
        return times

    async def _send(self, turns: int) -> None:
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(member: Member) -> None:
            headers = {"authorization": f"Bearer {member.token}"}
            parts = [{"type": "text", "text": "What is new?"}]
            message = {"id": uuid4().hex, "role": "user", "parts": parts}
            body = {"id": f"backlog-{uuid4()}", "messages": [message]}
            path = "/v1/ai/chat/tenant"
            async with slots, client.stream("POST", path, json=body, headers=headers) as response:
                response.raise_for_status()
                async for _ in response.aiter_bytes():
                    return  # accepted: the reader leaves, the turn goes on

        async with httpx2.AsyncClient(base_url=self.url, timeout=60) as client:
            await asyncio.gather(*(one(self.members[n % PEOPLE]) for n in range(turns)))

    def _waiting(self) -> int:
        return self._count("turns WHERE status = 'queued'")

    def _active(self) -> int:
        return self._count("turns WHERE status IN ('queued','running')")

    def _count(self, what: str) -> int:
        return int(self._sql(f"SELECT count(*) FROM {what}")[0][0])

    def _sql(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(query).fetchall()  # type: ignore[arg-type]

    def _counted(self, turns: int) -> bool:
        ends = dict(self._sql("SELECT status, count(*) FROM turns GROUP BY 1"))
        sent = dict(self._sql("SELECT enqueue_count, count(*) FROM turns GROUP BY 1"))
        attempts = dict(self._sql("SELECT attempts, count(*) FROM turns GROUP BY 1"))
        print(f"ends {ends}; times enqueued {sent}; attempts {attempts}")
        return ends == {"completed": turns} and sent == {1: turns}

    def _report(self, idle: dict[str, list[float]], busy: dict[str, list[float]]) -> bool:
        columns = ("idle p50", "p99", "queue p50", "p99", "p50 ×", "p99 ×")
        print(f"{'ms':<22}" + "".join(f"{column:>11}" for column in columns))
        held = True
        for name in idle:
            (a, b), (c, d) = _p50_p99(idle[name]), _p50_p99(busy[name])
            held &= c <= SLOWER * a
            cells = (a, b, c, d, c / a, d / b)
            print(f"{name:<22}" + "".join(f"{cell:>11.1f}" for cell in cells))
        return held


def _p50_p99(times: list[float]) -> tuple[float, float]:
    """In milliseconds."""
    milliseconds = [1_000 * seconds for seconds in times]
    return median(milliseconds), quantiles(milliseconds, n=100)[98]


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
