"""One turn over the API, with what a reader of its stream sees and how long that takes."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.fakes.installation import blocks
from tests.fakes.ui_message import UiMessage

TURN_SECONDS = 900.0
ENDED = {"finish": {"complete", "aborted"}, "error": {"error"}}


@dataclass
class Outcome:
    """`first` is the seconds to the first piece of text; `truncated`: it can be gone on with;
    `wrong` is what broke the protocol."""

    name: str
    chat: str
    seconds: float
    first: float | None
    kinds: Counter[str]
    end: str
    truncated: bool = False
    wrong: list[str] = field(default_factory=list)

    def row(self) -> str:
        first = "–" if self.first is None else f"{self.first:.1f}"
        deltas = self.kinds["text-delta"] + self.kinds["reasoning-delta"]
        good, bad = self.kinds["tool-output-available"], self.kinds["tool-output-error"]
        end = "; ".join([self.end, *self.wrong])
        return f"{self.name:<24}{first:>8}{self.seconds:>9.1f}{deltas:>8}{good:>6}/{bad:<4}{end}"


HEAD = f"{'turn':<24}{'first s':>8}{'all s':>9}{'deltas':>8}{'good':>6}/{'bad':<4}end"


def ask(
    client: httpx2.Client,
    name: str,
    text: str | None,
    *,
    chat: str | None = None,
    stop_after: int = 0,
) -> Outcome:
    """Ask, read the stream to its end, and compare it with what was stored. No text: the last
    answer of the chat goes on. `stop_after` so many pieces of text the answer is stopped."""
    body: dict[str, Any] = {"messages": [], "continue": True}
    if text is not None:
        parts = [{"type": "text", "text": text}]
        body = {"messages": [{"role": "user", "parts": parts}]}
    if chat is not None:
        body["chatId"] = chat
    page, begun, first, stopped = UiMessage(), time.monotonic(), None, False
    with client.stream("POST", "/v1/ai/chat/tenant", json=body, timeout=TURN_SECONDS) as response:
        if response.status_code == 429:  # a person may ask 25 times a minute
            time.sleep(float(response.headers["retry-after"]))
            return ask(client, name, text, chat=chat, stop_after=stop_after)
        if response.status_code != 200:
            response.read()
            return _refused(name, chat, begun, response)
        for block in blocks(response.iter_bytes()):
            page.feed_bytes(block)
            pieces = page.kinds().count("text-delta")
            if pieces and first is None:
                first = time.monotonic() - begun
            if stop_after and pieces >= stop_after and not stopped:
                stopped = True
                client.post(f"/v1/ai/chat/tenant/{chat_of(page)}/stop").raise_for_status()
    kinds = Counter(page.kinds())
    outcome = Outcome(name, chat_of(page), time.monotonic() - begun, first, kinds, end_of(page))
    outcome.truncated = bool(page.chunks[-1].get("messageMetadata", {}).get("truncated"))
    outcome.wrong = violations(page) + _disagreement(client, outcome, page)
    return outcome


def violations(page: UiMessage) -> list[str]:
    """What is wrong with the frames of a stream that has ended."""
    kinds = page.kinds()
    wrong = list(page.errors)
    if kinds[:1] != ["start"] or kinds.count("start") != 1:
        wrong.append("not one start at the beginning")
    if sum(kind in ENDED for kind in kinds) != 1 or kinds[-1] not in ENDED:
        wrong.append("not one end at the end")
    if not page.done:
        wrong.append("no [DONE]")
    if kinds.count("start-step") != kinds.count("finish-step") and kinds[-1] == "finish":
        wrong.append("a step without an end")
    if page.ids != sorted(page.ids):
        wrong.append("numbers out of order")
    if any(part.get("open") for part in page.parts) and kinds[-1] == "finish":
        wrong.append("a part without an end")
    return wrong


def chat_of(page: UiMessage) -> str:
    return str(page.chunks[0]["messageMetadata"]["chatId"])


def end_of(page: UiMessage) -> str:
    last = page.chunks[-1]
    if last["type"] == "finish":
        return str(last.get("finishReason"))
    codes = [c["messageMetadata"].get("errorCode") for c in page.chunks if "messageMetadata" in c]
    return f"error {codes[-1]}: {last.get('errorText')}"


def _disagreement(client: httpx2.Client, outcome: Outcome, page: UiMessage) -> list[str]:
    """The stored answer must have ended as the stream did, with the same text."""
    message = _stored(client, outcome.chat, page.chunks[0]["messageId"])
    if message is None:
        return ["no stored answer"]
    if message["status"] not in ENDED.get(page.chunks[-1]["type"], ()):
        return [f"stored as {message['status']}"]
    shown, kept = _text(page.parts), _text(message["parts"])
    return [] if shown == kept else ["another text was stored than was sent"]


def _stored(client: httpx2.Client, chat: str, message_id: str) -> dict[str, Any] | None:
    query: dict[str, str] = {}
    while True:
        answer = client.get(f"/v1/ai/chats/{chat}/messages", params=query)
        listed: dict[str, Any] = answer.raise_for_status().json()
        for message in listed["items"]:
            if message["id"] == message_id:
                return dict(message)
        if listed["nextCursor"] is None:
            return None
        query = {"cursor": listed["nextCursor"]}


def _text(parts: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if part["type"] == "text")


def _refused(name: str, chat: str | None, begun: float, response: httpx2.Response) -> Outcome:
    end = f"HTTP {response.status_code}"
    seconds = time.monotonic() - begun
    outcome = Outcome(name, chat or "", seconds, None, Counter(), end)
    outcome.wrong.append(response.text[:200])
    return outcome
