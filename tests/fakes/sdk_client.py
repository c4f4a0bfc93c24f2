"""Chats of the unmodified AI SDK in Node.js, led from a test (see web/contract/main.mjs)."""

import shutil
import subprocess
from pathlib import Path
from threading import Timer
from typing import Any, Self

import orjson

WEB = Path(__file__).parent.parent.parent / "web"
SECONDS = 60.0  # of a whole scenario; the script's own waits are shorter

State = dict[str, Any]


def available() -> bool:
    return shutil.which("node") is not None and (WEB / "node_modules" / "ai").is_dir()


class SdkClients:
    """A context manager. What was opened is led by the name that it was given; each method
    returns the client's state: id, status, error, messages, finishes, errors, statuses."""

    def __init__(self, url: str, token: str) -> None:
        self._at = {"api": f"{url}/v1/ai/chat/tenant", "token": token}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["node", "contract/main.mjs"], cwd=WEB, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._watch = Timer(SECONDS, self._process.kill)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._watch.cancel()

    def open(self, name: str = "a", **options: Any) -> State:
        """A chat; `id` and `messages` as the SDK takes them."""
        return self._call(do="open", **{"as": name}, **self._at, **options)

    def send(self, text: str, name: str = "a", **message: Any) -> State:
        """Begin a send; `messageId` among the message's fields edits an earlier one."""
        return self._call(do="send", **{"as": name}, message={"text": text, **message})

    def go_on(self, question_id: str, name: str = "a") -> State:
        """Ask for the rest of a truncated answer, as a message of its own."""
        options = {"messageId": question_id, "body": {"continue": True}}
        return self._call(do="send", **{"as": name}, options=options)

    def regenerate(self, name: str = "a", **options: Any) -> State:
        return self._call(do="regenerate", **{"as": name}, options=options)

    def resume(self, name: str = "a") -> State:
        return self._call(do="resume", **{"as": name})

    def leave(self, name: str = "a") -> State:
        """The SDK's own stop, which only ends the connection."""
        return self._call(do="stop", **{"as": name})

    def until(self, text: str, name: str = "a") -> State:
        return self._call(do="until", **{"as": name}, text=text)

    def settle(self, name: str = "a") -> State:
        return self._call(do="settle", **{"as": name})

    def ask(self, text: str, name: str = "a", **message: Any) -> State:
        """Send and wait for the end."""
        self.send(text, name, **message)
        return self.settle(name)

    def validate(self, messages: list[dict[str, Any]]) -> Any:
        """The messages as the SDK takes them in; raises AssertionError when it does not."""
        return self._call(do="validate", messages=messages)

    def complaints(self) -> list[str]:
        found: list[str] = self._call(do="complaints")
        return found

    def _call(self, **command: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(orjson.dumps(command) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the client ended within the command {command['do']}"
        result = orjson.loads(line)
        assert "error" not in result, f"{command['do']}: {result['error']}"
        return result["ok"]
