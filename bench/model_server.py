"""A real model behind a real server, started for one run."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from bench import model_builds
from tests.fakes.installation import free_port, wait_for

MODEL_NAME = "smollm2"
READY_SECONDS = 60.0


@dataclass(frozen=True)
class Kind:
    """`window` is what one conversation may take, in tokens."""

    build: Callable[[], None]
    window: int
    command: Callable[[int], list[str]]


def _options(prefix: str, **options: object) -> list[str]:
    return [text for name, value in options.items() for text in (prefix + name, str(value))]


def _python(port: int) -> list[str]:
    return [
        *(str(model_builds.PYTHON), "-m", "llama_cpp.server"),
        *_options("--", model=model_builds.model_file(), model_alias=MODEL_NAME),
        *_options("--", host="127.0.0.1", port=port, n_ctx=4096),
        # On a machine that others use as well, a second thread that waits for the first costs
        # more than it brings.
        *_options("--", n_threads=1, n_threads_batch=1),
        # Else a second request ends the first one's answer in the middle.
        *_options("--", interrupt_requests="false"),
    ]


def _llama(port: int) -> list[str]:
    return [
        *(str(model_builds.SERVER), "--jinja", "--no-warmup"),
        *("--chat-template-file", str(model_builds.TEMPLATE)),
        *_options("--", model=model_builds.model_file(), alias=MODEL_NAME),
        *_options("--", host="127.0.0.1", port=port, temp=0.3),
        # Two conversations at a time; the window is for both. An answer of at most 600 tokens.
        *_options("-", np=2, c=2 * 8192, t=1, tb=1, n=600),
    ]


KINDS = {
    "python": Kind(model_builds.python_server, 4096, _python),
    "llama": Kind(model_builds.llama_server, 8192, _llama),
}


@contextmanager
def serving(kind: Kind, log: Path) -> Iterator[str]:
    """A running server; its base URL."""
    port = free_port()
    base = f"http://127.0.0.1:{port}/v1"
    with log.open("wb") as file:
        process = subprocess.Popen(kind.command(port), stdout=file, stderr=file)
    try:
        wait_for(lambda: httpx2.get(f"{base}/models").is_success, READY_SECONDS, f"a server; {log}")
        yield base
    finally:
        process.terminate()
        process.wait()
