"""An API process as a proxy in front of it has it: idle connections, and the end."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from ops.processes import ROOT, process_named
from shared.core.settings import get_settings
from shared.core.tunables import API_GRACE_SECONDS
from tests.factories.world import World
from tests.fakes.installation import free_port, pause_until, wait_for

pytestmark = pytest.mark.slow

START_SECONDS = 120.0  # two on an idle machine; a busy one is no fault of what is tested
QUESTION = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "Q?"}]}]}


class Api:
    """One running API process."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings, api = get_settings().model_copy(update={"port": port}), process_named("api")
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                api.argv(settings),
                cwd=ROOT,
                env=os.environ | api.environment(settings) | environment,
                stdout=file,
                stderr=file,
            )
        wait_for(lambda: self.get("/healthz").status_code == 200, START_SECONDS, "the API serves")

    def get(self, path: str, **more: object) -> httpx2.Response:
        return httpx2.get(f"{self.url}{path}", timeout=5, **more)  # type: ignore[arg-type]

    def tell_to_stop(self) -> float:
        """When it was told."""
        self.process.send_signal(signal.SIGTERM)
        return time.monotonic()


@pytest.fixture
def start(world: World, tmp_path: Path) -> Iterator[Callable[..., Api]]:
    with ExitStack() as stack:

        def begin(**environment: str) -> Api:
            api = Api(environment, tmp_path / "api.log")
            stack.callback(api.process.wait, 10)
            stack.callback(api.process.kill)
            return api

        yield begin


def follow(api: Api, world: World, begun: Callable[[], object]) -> list[str]:
    """The frames of an answer that nobody writes, to the end of the stream; `begun` is called
    when the first one is there."""
    frames: list[str] = []
    url, headers = f"{api.url}/v1/ai/chat/tenant", world.headers("writer")
    with httpx2.stream("POST", url, json=QUESTION, headers=headers, timeout=30) as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                frames.append(line.removeprefix("data: "))
                if len(frames) == 1:
                    begun()
    return frames


def test_a_connection_that_a_proxy_keeps_for_later_stays_open(start: Callable[..., Api]) -> None:
    api = start()
    with httpx2.Client(base_url=api.url, limits=httpx2.Limits(keepalive_expiry=60)) as proxy:
        first = proxy.get("/healthz").extensions["network_stream"]
        pause_until(time.monotonic() + 6)  # a server's usual limit is five seconds
        again = proxy.get("/healthz").extensions["network_stream"]
        port = [stream.get_extra_info("client_addr") for stream in (first, again)]
    assert port[0] == port[1]


def test_its_readers_are_let_go_at_once_and_can_tell_that_the_answer_goes_on(
    start: Callable[..., Api], world: World
) -> None:
    api = start()
    told: list[float] = []
    frames = follow(api, world, lambda: told.append(api.tell_to_stop()))
    assert time.monotonic() - told[0] < API_GRACE_SECONDS - 1
    assert [json.loads(frame)["type"] for frame in frames] == ["start"]  # no end, no error
    api.process.wait(5)


def test_first_it_is_red_for_balancers_and_still_serves_those_who_come(
    start: Callable[..., Api], world: World
) -> None:
    api = start(PAGETURN_DRAIN_SECONDS="4")
    told: list[float] = []

    def leave() -> None:
        told.append(api.tell_to_stop())
        wait_for(lambda: api.get("/readyz").json()["status"] == "leaving", 3, "red")
        assert {api.get(path).status_code for path in ("/healthz", "/readyz")} == {503}
        assert api.get("/v1/spaces", headers=world.headers("writer")).status_code == 200

    follow(api, world, leave)
    assert time.monotonic() - told[0] >= 4
    api.process.wait(5)


def test_who_is_in_a_hurry_says_it_twice(start: Callable[..., Api]) -> None:
    api = start(PAGETURN_DRAIN_SECONDS="60")
    api.tell_to_stop()
    wait_for(lambda: api.get("/readyz").json()["status"] == "leaving", 3, "red")
    api.tell_to_stop()
    api.process.wait(5)


def test_what_was_asked_before_is_answered(start: Callable[..., Api], world: World) -> None:
    api = start()
    body = json.dumps({"spaceId": str(world.space("WIKI")), "title": "Kept"}).encode()

    def slowly() -> Iterator[bytes]:
        yield body[:5]
        api.tell_to_stop()
        time.sleep(0.5)  # it has closed its door by then
        with pytest.raises(httpx2.ConnectError):
            api.get("/healthz")
        yield body[5:]

    headers = world.headers("writer") | {"content-type": "application/json"}
    answer = httpx2.post(f"{api.url}/v1/pages", content=slowly(), headers=headers, timeout=10)
    assert answer.status_code == 201
    api.process.wait(5)
