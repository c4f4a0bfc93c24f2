"""One person's browser: asks, follows, is cut off, comes back, stops, saves and looks around."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx2

from tests.fakes.ui_message import UiMessage

PATIENCE_SECONDS = 120.0  # for one turn beyond its words: three attempts of a worker that dies
RETRY_SECONDS = 0.5
TENANT = "/v1/ai/chat/tenant"

Follow = tuple[str, UiMessage]


class Person:
    """`urls` are the APIs; which of them serves a request is chance."""

    def __init__(self, token: str, urls: list[str], space: str, counts: "Counter[str]") -> None:
        self._client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {token}"}, timeout=httpx2.Timeout(30, read=60)
        )
        self._urls = urls
        self._space = space
        self._dice = random.Random()
        self._pages: list[str] = []
        self.counts = counts
        self.turns: dict[str, str] = {}  # turn id → how its reader saw it end
        self.marks: list[str] = []
        self.chat: str | None = None

    async def live(self, until: "asyncio.Event") -> None:
        """Go on until told to end; the turn that runs then is still followed to its end."""
        while not until.is_set():
            await self._something()
            await asyncio.sleep(self._dice.uniform(0.2, 3.0))
        await self._client.aclose()

    async def _something(self) -> None:
        chance = self._dice.random()
        if chance < 0.62:
            await self._turn()
        elif chance < 0.8:
            await self._save()
        else:
            await self._look()

    async def _turn(self) -> None:
        if self.chat is None or self._dice.random() < 0.3:
            self.chat = f"soak-{uuid4()}"
        mark = uuid4().hex[:12]
        question = f"Tell me [{mark}] space={self._space} please."
        page = UiMessage()
        how = self._dice.choices(["follow", "leave", "stop"], [0.7, 0.18, 0.12])[0]
        turn_id = await self._ask(question, page, how)
        if turn_id is None:
            return
        self.marks.append(mark)
        self.turns[turn_id] = await self._to_the_end(page, how)
        self.counts[f"turn {how}"] += 1
        self.counts["protocol faults"] += len(page.errors)

    async def _ask(self, question: str, page: UiMessage, how: str) -> str | None:
        """Send until it is accepted; the same request each time. The turn's id."""
        parts = [{"type": "text", "text": question}]
        message = {"id": uuid4().hex, "role": "user", "parts": parts}
        body = {"id": self.chat, "messages": [message]}
        leave_at = self._dice.randint(1, 30) if how != "follow" else None
        for _ in range(200):
            try:
                async with self._client.stream("POST", self._url() + TENANT, json=body) as answer:
                    if answer.status_code in (409, 429):
                        self.counts[f"refused {answer.status_code}"] += 1
                        return None
                    if answer.status_code == 200:
                        await self._read(answer, page, leave_at)
            except (httpx2.HTTPError, OSError):
                self.counts["broken requests"] += 1
            if page.chunks:
                return str(page.chunks[0]["messageMetadata"]["turnId"])
            await asyncio.sleep(RETRY_SECONDS)
        self.counts["never accepted"] += 1
        return None

    async def _read(self, answer: httpx2.Response, page: UiMessage, leave_at: int | None) -> None:
        async for block in _blocks(answer.aiter_bytes()):
            page.feed_bytes(block)
            if page.done or (leave_at is not None and len(page.chunks) > leave_at):
                return

    async def _to_the_end(self, page: UiMessage, how: str) -> str:
        """Come back until the turn has ended: how it ended, or `unseen` when the stored answer
        tells it."""
        if how == "stop":
            await self._request("POST", f"{TENANT}/{self.chat}/stop")
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS + 60
        while asyncio.get_running_loop().time() < deadline:
            if page.chunks and page.chunks[-1]["type"] in ("finish", "error"):
                return str(page.chunks[-1].get("finishReason", "error"))
            again = UiMessage()
            try:
                url = f"{self._url()}{TENANT}/{self.chat}/stream"
                async with self._client.stream("GET", url) as answer:
                    if answer.status_code == 204:
                        return "unseen"
                    if answer.status_code == 200:
                        self.counts["reconnects"] += 1
                        await self._read(answer, again, None)
                        page = again
            except (httpx2.HTTPError, OSError):
                self.counts["broken requests"] += 1
            await asyncio.sleep(RETRY_SECONDS)
        return "never ended"

    async def _save(self) -> None:
        text = " ".join(uuid4().hex[:6] for _ in range(60))
        if not self._pages or self._dice.random() < 0.1:
            body = {"spaceId": self._space, "title": "Soaked", "markdown": text}
            made = await self._request("POST", "/v1/pages", json=body)
            if made is not None and made.status_code == 201:
                self._pages = [*self._pages[-20:], made.json()["id"]]
        else:
            page_id = self._dice.choice(self._pages)
            await self._request("PATCH", f"/v1/pages/{page_id}", json={"markdown": text})
        self.counts["saves"] += 1

    async def _look(self) -> None:
        await self._request("GET", "/v1/search", params={"q": "alpha river"})
        await self._request("GET", "/v1/ai/chats")
        if self._pages:
            await self._request("GET", f"/v1/pages/{self._dice.choice(self._pages)}")
        self.counts["looks"] += 1

    async def _request(self, method: str, path: str, **more: Any) -> httpx2.Response | None:
        try:
            answer = await self._client.request(method, self._url() + path, **more)
        except (httpx2.HTTPError, OSError):
            self.counts["broken requests"] += 1
            return None
        if answer.status_code >= 500:
            self.counts[f"answered {answer.status_code}"] += 1
        return answer

    def _url(self) -> str:
        return self._dice.choice(self._urls)


async def _blocks(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in pieces:
        rest += piece
        *whole, rest = rest.split(b"\n\n")
        for block in whole:
            yield block + b"\n\n"
