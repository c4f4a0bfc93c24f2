"""What a reader saw, compared with what is stored."""

from itertools import pairwise
from typing import Any

import httpx2

from bench.cluster.people import Person
from tests.fakes.ui_message import UiMessage

# How a message is stored whose stream ended in these ways.
_STATUS = {"finish": ("complete", "aborted"), "error": ("error",)}
_ENDS = tuple(_STATUS)


async def stored_answer(
    client: httpx2.AsyncClient, url: str, person: Person, page: UiMessage
) -> dict[str, Any] | None:
    """The stored answer that a reader followed, or the chat's last one when nothing of it had
    come. None: there is none. Raises httpx2.HTTPError."""
    chat = await _chat_id(client, url, person, page)
    if chat is None:
        return None
    path = f"{url}/v1/ai/chats/{chat}/messages"
    answer = await client.get(path, headers=person.headers, timeout=15)
    if answer.status_code == 404:
        return None
    items = answer.raise_for_status().json()["items"]
    answers = [item for item in items if item["role"] == "assistant"]
    named = page.chunks[0].get("messageId") if page.chunks else None
    return next((a for a in reversed(answers) if named in (None, a["id"])), None)


async def _chat_id(
    client: httpx2.AsyncClient, url: str, person: Person, page: UiMessage
) -> str | None:
    if page.chunks:
        return str(page.chunks[0]["messageMetadata"]["chatId"])
    listed = await client.get(f"{url}/v1/ai/chats", headers=person.headers, timeout=15)
    items = listed.raise_for_status().json()["items"]
    return str(items[0]["id"]) if items else None


def faults_of(page: UiMessage, *, last: bool) -> list[str]:
    """What is wrong with the frames of one connection; `last`: the turn ended on it, if at all."""
    kinds, faults = page.kinds(), list(page.errors)
    if kinds[0] != "start" or kinds.count("start") != 1:
        faults.append("not one start at the beginning")
    numbers = [number for number in page.ids if number]  # what is made of rows has none
    if any(b <= a for a, b in pairwise(numbers)):
        faults.append("a number came twice or out of order")
    ends = [at for at, kind in enumerate(kinds) if kind in _ENDS]
    if len(ends) > 1 or (ends and ends[0] != len(kinds) - 1):
        faults.append("more than one end, or something after it")
    if ends and not last:
        faults.append("an end, and then another connection")
    if ends and not page.done:
        faults.append("no [DONE]")
    if kinds[-1] == "finish":
        faults += _unclosed(page)
    return faults


def _unclosed(page: UiMessage) -> list[str]:
    kinds, stopped = page.kinds(), "abort" in page.kinds()
    faults = []
    if kinds.count("start-step") != kinds.count("finish-step") and not stopped:
        faults.append("a step without an end")
    if any(part.get("open") for part in page.parts) and not stopped:
        faults.append("a part without an end")
    return faults


def disagreement(page: UiMessage, stored: dict[str, Any] | None) -> list[str]:
    """How what a reader has at the end differs from the stored answer."""
    if stored is None:
        return ["no stored answer"]
    last = page.kinds()[-1]
    faults = []
    if stored["status"] not in _STATUS.get(last, ()):
        faults.append(f"ended by {last}, stored as {stored['status']}")
    kept = [{k: v for k, v in part.items() if k != "state"} for part in stored["parts"]]
    shown = page.shown()
    if shown != kept:
        faults.append(f"shown {_outline(shown)}, stored {_outline(kept)}")
    return faults


def _outline(parts: list[dict[str, Any]]) -> str:
    """The parts without anybody's words."""
    return ",".join(f"{p['type']}[{len(str(p.get('text', p.get('output', ''))))}]" for p in parts)
