"""What holds at the end of a turn, whichever it was: the SDK's client and the store agree."""

from typing import Any

import httpx2

from tests.fakes.sdk_client import SdkClients, State
from tests.fakes.told_model import KEY

Parts = list[dict[str, Any]]


def stored(person: httpx2.Client, state: State) -> list[dict[str, Any]]:
    """The stored messages of a client's chat, by the id that the server told it."""
    metadata = next(m["metadata"] for m in state["messages"] if m.get("metadata"))
    answer = person.get(f"/v1/ai/chats/{metadata['chatId']}/messages")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def comparable(messages: list[dict[str, Any]]) -> list[tuple[str, Parts]]:
    """Roles and parts, without what is only for the stream: the title on a call's card, and the
    id by which the client finds a growing text."""
    passing = {"title", "id"}
    return [
        (m["role"], [{k: v for k, v in part.items() if k not in passing} for part in m["parts"]])
        for m in messages
    ]


def agreed(sdk: SdkClients, person: httpx2.Client, state: State) -> Parts:
    """The parts of the last message, which are the stored ones, as are all before it."""
    kept = stored(person, state)
    assert comparable(state["messages"]) == comparable(kept)
    answers = [m["id"] for m in state["messages"] if m["role"] == "assistant"]
    assert answers == [m["id"] for m in kept if m["role"] == "assistant"]
    sdk.validate(kept)
    parts: Parts = state["messages"][-1]["parts"]
    return parts


def finished(state: State, reason: str | None = "stop") -> None:
    assert (state["status"], state["error"], state["errors"]) == ("ready", None, [])
    last = state["finishes"][-1]
    assert last == {"isAbort": False, "isDisconnect": False, "isError": False} | {
        "finishReason": reason
    }


def texts(parts: Parts, kind: str = "text") -> list[str]:
    return [part["text"] for part in parts if part["type"] == kind]


def kinds(parts: Parts) -> list[str]:
    return [part["type"] for part in parts]


def failed(state: State, says_what: str, code: str) -> None:
    """With a short text for the person, and without the key."""
    assert state["status"] == "error"
    assert state["errors"] == [state["error"]]
    assert says_what in state["error"]
    assert len(state["error"]) < 400
    assert KEY not in str(state)
    assert state["finishes"][-1]["isError"] is True
    assert state["messages"][-1]["metadata"]["errorCode"] == code
