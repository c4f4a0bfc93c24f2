"""What strict providers refuse in a chat request, and the vectors that the stub answers with."""

import base64
import struct
from hashlib import sha256
from typing import Any


def fault(body: dict[str, Any]) -> str | None:
    """Why a strict provider would answer 400; None when it would not."""
    messages = body.get("messages", [])
    if sum(message["role"] in ("system", "developer") for message in messages) > 1:
        return "only one system message is allowed"
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"no tool call for the result {message.get('tool_call_id')!r}"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"tool calls without a result: {', '.join(open_calls)}"
        for call in message.get("tool_calls") or []:
            if not call.get("id") or call["id"] in seen:
                return f"tool call id is empty or repeated: {call.get('id')!r}"
            seen.add(call["id"])
            open_calls.append(call["id"])
    return f"tool calls without a result: {', '.join(open_calls)}" if open_calls else None


def embeddings(body: dict[str, Any], dimensions: int) -> dict[str, Any]:
    """An answer of /v1/embeddings: equal texts get equal vectors, shared words make them near."""
    given = body.get("input")
    texts = [given] if isinstance(given, str) else list(given or [])
    size = body.get("dimensions") or dimensions
    items = [
        {"object": "embedding", "index": n, "embedding": _form(vector(text, size), body)}
        for n, text in enumerate(texts)
    ]
    tokens = sum(len(str(text).split()) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": items, "model": body.get("model"), "usage": usage}


def vector(text: Any, size: int) -> list[float]:
    """A unit vector: the text's words, hashed to places."""
    places = [0.0] * size
    for word in str(text).lower().split() or [""]:
        digest = sha256(word.encode()).digest()
        places[int.from_bytes(digest[:4], "big") % size] += 1.0 if digest[4] & 1 else -1.0
    length = sum(value * value for value in places) ** 0.5
    if length == 0:
        places[0] = length = 1.0
    return [value / length for value in places]


def _form(values: list[float], body: dict[str, Any]) -> Any:
    if body.get("encoding_format") != "base64":
        return values
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
