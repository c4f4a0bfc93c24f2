"""`make`'s first step says in one line what is missing on the machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ops import setup
from ops.processes import ROOT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project folder with nothing built."""
    for name in ("ops", "web", "bin"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "ops" / "setup.py", tmp_path / "ops")
    (tmp_path / "web" / "package-lock.json").write_text("{}")
    return tmp_path


def run(tree: Path, task: str) -> str:
    """The one line that it ends with."""
    done = subprocess.run(
        [sys.executable, "-I", str(tree / "ops" / "setup.py"), task],
        env={"PATH": str(tree / "bin"), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def program(tree: Path, name: str, prints: str) -> None:
    path = tree / "bin" / name
    path.write_text(f"#!/bin/sh\necho {prints}\n")
    path.chmod(0o755)


def test_a_missing_node_is_named(tree: Path) -> None:
    assert "Node.js 20 or later with npm is needed" in run(tree, "web")


def test_an_old_node_is_named_with_its_version(tree: Path) -> None:
    program(tree, "node", "v18.19.1")
    program(tree, "npm", "9")
    error = run(tree, "web")
    assert "Node.js 20 or later is needed" in error
    assert "v18.19.1" in error


def test_a_python_without_the_venv_module_is_told_what_to_install() -> None:
    with pytest.raises(setup.SetupError, match="python3-venv"):
        setup.require_modules(lambda name: None if name == "ensurepip" else object())


def test_a_folder_that_cannot_be_written_is_named(tree: Path) -> None:
    for lock in setup.LOCKS.values():
        (tree / lock).write_text("")
    (tree / "pyproject.toml").write_text("")
    (tree / ".venv").write_text("a file, not a folder")
    assert ".venv" in run(tree, "run")
