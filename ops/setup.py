"""Makes what `make` needs: the Python environment and the built web app.

Runs before anything is installed, so it uses the standard library alone, and no syntax that an
older Python could not even read: it must be able to say that the Python is too old.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCKS = {"run": "requirements.lock", "dev": "requirements-dev.lock"}
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20
PIP = ["-m", "pip", "--disable-pip-version-check", "-qq", "install"]
NOT_SOURCES = {"node_modules", "dist", "tests", "contract"}


class SetupError(Exception):
    """The message is one line for the person at the shell."""


def install(kind: str) -> None:
    """Install a lock file and the project, unless that was done with the same files."""
    lock = ROOT / LOCKS[kind]
    stamp = VENV / f".installed-{kind}"
    wanted = digest([lock, ROOT / "pyproject.toml"], sys.version)
    if PYTHON.exists() and read(stamp) == wanted:
        return
    require_writable(VENV)
    make_environment()
    say("Installing Python packages (the first time takes a few minutes) …")
    call([str(PYTHON), *PIP, "--require-hashes", "-r", str(lock)], ROOT)
    call([str(PYTHON), *PIP, "--no-build-isolation", "--no-deps", "-e", str(ROOT)], ROOT)
    stamp.write_text(wanted)


def make_environment() -> None:
    """A virtual environment with pip in it."""
    require_modules(importlib.util.find_spec)
    right = "import sys; sys.exit(sys.version_info < " + repr(OLDEST_PYTHON) + ")"
    if not works([str(PYTHON), "-c", right]):
        say("Making the Python environment …")
        call([sys.executable, "-m", "venv", "--clear", str(VENV)], ROOT)
    if not works([str(PYTHON), "-m", "pip", "--version"]):
        call([str(PYTHON), "-m", "ensurepip"], ROOT)


def require_modules(find: Callable[[str], object]) -> None:
    for module in ("venv", "ensurepip"):
        if find(module) is None:
            raise SetupError(
                f"This Python has no {module} module: install it "
                "(Debian and Ubuntu: apt install python3-venv)"
            )


def require_writable(folder: Path) -> None:
    """Make the folder where it is missing; an OSError names it."""
    folder.mkdir(exist_ok=True)
    if not os.access(str(folder), os.W_OK):
        raise SetupError(f"{folder} cannot be written")


def build_web() -> None:
    """Build the web app when it is older than its sources."""
    sources = [path for path in sorted(WEB.rglob("*")) if path.is_file() and is_source(path)]
    stamp = WEB / "dist" / ".built"
    wanted = digest(sources, "")
    if read(stamp) == wanted:
        return
    install_web()
    require_writable(WEB / "dist")
    say("Building the web app …")
    call(["npm", "run", "--silent", "build"], WEB)
    stamp.write_text(wanted)


def install_web() -> None:
    """The web app's packages, unless the same lock file was installed before."""
    check_node()
    stamp = WEB / "node_modules" / ".installed"
    wanted = digest([WEB / "package-lock.json"], "")
    if read(stamp) == wanted:
        return
    require_writable(WEB / "node_modules")
    say("Installing the web app's packages …")
    call(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], WEB)
    stamp.write_text(wanted)


def run_web_script(name: str) -> None:
    """A script of the web app's package.json, where it has one."""
    install_web()
    call(["npm", "run", "--silent", "--if-present", name], WEB, quiet=False)


def check_node() -> None:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        raise SetupError(f"Node.js {OLDEST_NODE} or later with npm is needed: install it")
    version = subprocess.run(
        [node, "--version"], stdout=subprocess.PIPE, text=True, check=False
    ).stdout.strip()
    major = version.lstrip("v").split(".")[0]
    if not major.isdigit() or int(major) < OLDEST_NODE:
        raise SetupError(f"Node.js {OLDEST_NODE} or later is needed, {node} is {version}")


def is_source(path: Path) -> bool:
    return not NOT_SOURCES & set(path.relative_to(WEB).parts)


def digest(paths: list[Path], extra: str) -> str:
    """One value for the contents of these files."""
    total = hashlib.sha256(extra.encode())
    for path in paths:
        total.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def works(command: list[str]) -> bool:
    try:
        return (
            subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            ).returncode
            == 0
        )
    except OSError:
        return False


def call(command: list[str], folder: Path, *, quiet: bool = True) -> None:
    """Run it; what a quiet one printed is shown when it fails."""
    output = subprocess.PIPE if quiet else None
    done = subprocess.run(
        command,
        cwd=str(folder),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if quiet else None,
        check=False,
    )
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stdout or b"")
        raise SetupError(f"`{' '.join(command)}` failed with exit code {done.returncode}")


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def main() -> None:
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(str(part) for part in sys.version_info[:3])
        raise SetupError(
            f"Python 3.11 or later is needed, {sys.executable} is {found}: "
            "name another, as in make run PYTHON=python3.12"
        )
    task = sys.argv[1]
    if task == "web":
        build_web()
    elif task == "web-script":
        run_web_script(sys.argv[2])
    else:
        install(task)


if __name__ == "__main__":
    try:
        main()
    except SetupError as error:
        sys.exit(f"pageturn: {error}")
    except OSError as error:
        sys.exit(f"pageturn: {error.filename or ROOT} cannot be written or read: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
