"""A reader of the UI message stream, folding chunks into parts as the `ai` package does."""

from dataclasses import dataclass, field
from typing import Any

import orjson


@dataclass
class UiMessage:
    """What a browser would show. `errors` holds protocol violations."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    done: bool = False
    errors: list[str] = field(default_factory=list)

    def feed_bytes(self, data: bytes) -> None:
        for block in data.split(b"\n\n"):
            if block and not block.startswith(b":"):
                lines = dict(line.split(b": ", 1) for line in block.split(b"\n"))
                if lines[b"data"] == b"[DONE]":
                    self.done = True
                else:
                    self.ids.append(int(lines.get(b"id", b"0")))
                    self.feed(orjson.loads(lines[b"data"]))

    def feed(self, chunk: dict[str, Any]) -> None:
        self.chunks.append(chunk)
        kind = chunk["type"]
        if kind == "start-step":
            self.parts.append({"type": "step-start"})
        elif kind == "reset-step":
            while self.parts and self.parts[-1]["type"] != "step-start":
                self.parts.pop()
        elif kind in ("text-start", "reasoning-start"):
            if self._open(chunk["id"]) is not None:
                self.errors.append(f"{kind} for a part that is open: {chunk['id']}")
            self.parts.append(
                {"type": kind.removesuffix("-start"), "text": "", "id": chunk["id"], "open": True}
            )
        elif kind in ("text-delta", "reasoning-delta"):
            part = self._open(chunk["id"])
            if part is None:
                self.errors.append(f"{kind} for a part that is not open: {chunk['id']}")
            else:
                part["text"] += chunk["delta"]
        elif kind in ("text-end", "reasoning-end"):
            part = self._open(chunk["id"])
            if part is None:
                self.errors.append(f"{kind} for a part that is not open: {chunk['id']}")
            else:
                part["open"] = False
        elif kind == "tool-input-available":
            if self._call(chunk) is not None:
                self.errors.append(f"a call that is there already: {chunk['toolCallId']}")
            self.parts.append(
                {
                    "type": f"tool-{chunk['toolName']}",
                    "toolCallId": chunk["toolCallId"],
                    "input": chunk["input"],
                    "state": "input-available",
                }
            )
        elif kind in ("tool-output-available", "tool-output-error"):
            self._output(chunk)
        elif kind == "source-url":
            self.parts.append(dict(chunk))

    def _open(self, id_: str) -> dict[str, Any] | None:
        return next((p for p in reversed(self.parts) if p.get("id") == id_ and p["open"]), None)

    def _call(self, chunk: dict[str, Any]) -> dict[str, Any] | None:
        return next((p for p in self.parts if p.get("toolCallId") == chunk["toolCallId"]), None)

    def _output(self, chunk: dict[str, Any]) -> None:
        call = self._call(chunk)
        if call is None:
            self.errors.append(f"output for an unknown call: {chunk['toolCallId']}")
        elif "output" in chunk:
            call.update(state="output-available", output=chunk["output"])
        else:
            call.update(state="output-error", errorText=chunk["errorText"])

    def shown(self) -> list[dict[str, Any]]:
        """The parts as stored parts look, without what only a stream knows."""
        hidden = {"id", "open", "state"}
        return [{k: v for k, v in p.items() if k not in hidden} for p in self.parts]

    def kinds(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]
