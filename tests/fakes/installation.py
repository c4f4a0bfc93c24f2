"""A whole Pageturn, started as a person starts it, in a folder and on ports of its own."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.fakes.ui_message import UiMessage

PAGETURN = Path(sys.executable).parent / "pageturn"
EMAIL, PASSWORD = "owner@example.org", "a-password-for-tests-only"
READY_SECONDS = 180.0  # five on an idle machine; a busy one is no fault of what is tested


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Poll until the condition gives something true, at most so many seconds."""
    pause = 0.05
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx2.HTTPError, OSError):
            value = condition()
            if value:
                return value
        pause_until(time.monotonic() + pause)
    raise AssertionError(f"not within {seconds} s: {what}")


def pause_until(moment: float) -> None:
    """A bounded wait on a socket that nobody writes to."""
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.settimeout(max(0.001, moment - time.monotonic()))
        with contextlib.suppress(TimeoutError):
            reader.recv(1)


@dataclass
class Installation:
    """Use `start`, `stop` and `kill`; `home` keeps the data between them."""

    home: Path
    port: int = field(default_factory=free_port)
    flower_port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None
    extra: dict[str, str] = field(default_factory=dict)
    token: str | None = None

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
        kept.pop("APP_SECRET", None)
        return kept | {
            "PAGETURN_HOME": str(self.home),
            "PAGETURN_PORT": str(self.port),
            "PAGETURN_FLOWER_PORT": str(self.flower_port),
            "PAGETURN_OWNER_EMAIL": EMAIL,
            "PAGETURN_OWNER_PASSWORD": PASSWORD,
            **self.extra,
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> float:
        """Seconds until everything was ready."""
        begun = time.monotonic()
        with (self.home.parent / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(PAGETURN), "up"], env=self.env, stdout=log, stderr=log
            )
        self.wait_ready()
        return time.monotonic() - begun

    def wait_ready(self, seconds: float = READY_SECONDS) -> None:
        def ready() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.output()
            return httpx2.get(f"{self.url}/readyz", timeout=2).status_code == 200

        try:
            wait_for(ready, seconds, "ready")
        except AssertionError as error:
            error.add_note(self.output())
            raise

    def output(self) -> str:
        path = self.home.parent / "up.log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""

    def stop(self) -> None:
        """Ctrl-C, and nothing may be left."""
        assert self.process is not None
        pids = self.pids()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(40)
        wait_for(lambda: not any(alive(pid) for pid in pids), 10, "every process is gone")
        self.process = None

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)
        self.process = None

    def pids(self) -> list[int]:
        """The supervised processes now."""
        state = json.loads((self.home / "run" / "state.json").read_text())
        return [p["pid"] for p in state["processes"] if p["pid"]]

    def children(self) -> dict[str, int]:
        """Name → pid of the supervised processes now."""
        state = json.loads((self.home / "run" / "state.json").read_text())
        return {p["name"]: p["pid"] for p in state["processes"] if p["pid"]}

    def run(self, *arguments: str, timeout: float = 300) -> "subprocess.CompletedProcess[str]":
        """A command of the command line, beside the running processes."""
        return subprocess.run(
            [str(PAGETURN), *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def sign_in(self) -> httpx2.Client:
        """A client of the owner's; signs in once, for sign-ins are throttled."""
        if self.token is None:
            self.token = self._token(EMAIL)
        return self._client(self.token)

    def add_person(self, email: str, name: str, *spaces: str) -> httpx2.Client:
        """A client of a new member's; `spaces` as `pageturn create-user` takes them."""
        roles = [argument for space in spaces for argument in ("--space", space)]
        made = self.run(
            "create-user", email, "--name", name, "--password", PASSWORD, *roles, timeout=60
        )
        assert made.returncode == 0, made.stderr
        return self._client(self._token(email))

    def _token(self, email: str) -> str:
        body = {"email": email, "password": PASSWORD}
        answer = httpx2.post(f"{self.url}/v1/auth/sign-in", json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["accessToken"]
        return token

    def _client(self, token: str) -> httpx2.Client:
        headers = {"authorization": f"Bearer {token}"}
        return httpx2.Client(base_url=self.url, timeout=30, headers=headers)


@contextlib.contextmanager
def running(**extra: str) -> Iterator[Installation]:
    """A started installation with these variables, stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pageturn-e2e-"))
    installation = Installation(folder / "home", extra=extra)
    try:
        installation.start()
        yield installation
    finally:
        if installation.process is not None:
            installation.stop()
        shutil.rmtree(folder, ignore_errors=True)


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def ask(client: httpx2.Client, question: str, **more: Any) -> UiMessage:
    """Ask in a new chat and read the stream to its end."""
    body = {"messages": [{"role": "user", "parts": [{"type": "text", "text": question}]}], **more}
    page = UiMessage()
    with client.stream("POST", "/v1/ai/chat/tenant", json=body, timeout=60) as response:
        assert response.status_code == 200, response.read()
        for block in blocks(response.iter_bytes()):
            page.feed_bytes(block)
    assert page.errors == []
    return page


def blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Whole event-stream blocks out of arbitrary pieces."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        *whole, rest = rest.split(b"\n\n")
        for block in whole:
            yield block + b"\n\n"


def make_page(
    client: httpx2.Client, title: str, markdown: str, space: str = "General"
) -> dict[str, Any]:
    """A page, as the API answers it; `space` by its name."""
    spaces = client.get("/v1/spaces").json()["items"]
    space_id = next(item["id"] for item in spaces if item["name"] == space)
    body = {"spaceId": space_id, "title": title, "markdown": markdown}
    made = client.post("/v1/pages", json=body)
    assert made.status_code == 201, made.text
    page: dict[str, Any] = made.json()
    return page
