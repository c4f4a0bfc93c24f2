"""Children hold a lock for life; a second one with the same lock does not start."""

import signal
import sys
from pathlib import Path

import pytest

from ops import children
from ops.children import Child, held
from ops.launch import BUSY
from ops.waiting import wait_until

WAIT = "import signal; print('ready', flush=True); signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + WAIT


def child(folder: Path, program: str = WAIT) -> Child:
    argv = [sys.executable, "-c", program]
    return Child(argv=argv, lock=folder / "lock", log=folder / "log", cwd=folder)


def ready(folder: Path) -> bool:
    return (folder / "log").exists() and "ready" in (folder / "log").read_text()


def test_a_second_child_with_the_same_lock_does_not_start(tmp_path: Path) -> None:
    first = children.start(child(tmp_path))
    assert wait_until(lambda: ready(tmp_path), 10)
    second = children.start(child(tmp_path))
    assert second.wait(10) == BUSY
    assert held(tmp_path / "lock")
    children.ask(first, signal.SIGTERM)
    children.await_end(first, 5)
    assert not held(tmp_path / "lock")


@pytest.mark.parametrize("program", [WAIT, STUBBORN])
def test_a_leftover_is_asked_and_then_killed(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "CHILD_END_SECONDS", 0.3)
    process = children.start(child(tmp_path, program))
    assert wait_until(lambda: ready(tmp_path), 10)
    assert children.end_leftover(tmp_path / "lock", signal.SIGTERM)
    assert process.wait(5) in (-signal.SIGTERM, -signal.SIGKILL)
    assert not children.end_leftover(tmp_path / "lock", signal.SIGTERM)


def test_somebody_in_a_hurry_does_not_wait_for_the_grace(tmp_path: Path) -> None:
    process = children.start(child(tmp_path, STUBBORN))
    assert wait_until(lambda: ready(tmp_path), 10)
    children.ask(process, signal.SIGTERM)
    children.await_end(process, 3600, hurry=lambda: True)
    assert process.returncode == -signal.SIGKILL
