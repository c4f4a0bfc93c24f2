"""A backup, rehearsed: what was there is there again, or nothing has changed."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from ops.migrate import upgrade
from ops.processes import ROOT
from ops.stores import start_embedded
from tests.ops.running import Running

pytestmark = pytest.mark.slow


def pageturn(running: Running, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "ops.cli", *arguments],
        cwd=ROOT,
        env=running.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def succeeds(running: Running, *arguments: str) -> None:
    done = pageturn(running, *arguments)
    assert done.returncode == 0, done.stderr


def refused(running: Running, *arguments: str) -> str:
    done = pageturn(running, *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def execute(running: Running, statement: str) -> list[tuple[object, ...]]:
    stores = start_embedded(running.home.root)
    try:
        upgrade(stores.database_url)
        with psycopg.connect(stores.database_url) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []
    finally:
        stores.stop()


def workspaces(running: Running) -> list[object]:
    return [name for (name,) in execute(running, "SELECT name FROM workspaces")]


def picture(running: Running) -> Path:
    return running.home.attachments / "ab" / "picture"


@pytest.fixture
def original(tmp_path: Path) -> Running:
    """A stopped installation with a row and an attachment, and its backup beside it."""
    running = Running(tmp_path)
    execute(
        running,
        "INSERT INTO workspaces (id, name) VALUES (gen_random_uuid(), 'Reading room')",
    )
    picture(running).parent.mkdir(parents=True)
    picture(running).write_bytes(b"pixels")
    succeeds(running, "backup", str(tmp_path / "file"))
    return running


def test_a_backup_fills_an_empty_installation(original: Running, tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert file.stat().st_mode & 0o777 == 0o600
    (tmp_path / "second").mkdir()
    second = Running(tmp_path / "second")
    succeeds(second, "restore", str(file))
    assert workspaces(second) == ["Reading room"]
    assert picture(second).read_bytes() == b"pixels"
    assert second.home.secret.read_text().strip() == original.home.secret.read_text().strip()
    assert second.home.secret.stat().st_mode & 0o777 == 0o600


def test_a_full_installation_is_replaced_only_by_force(original: Running, tmp_path: Path) -> None:
    file = tmp_path / "file"
    execute(original, "UPDATE workspaces SET name = 'Later'")
    picture(original).write_bytes(b"later")
    assert "--force" in refused(original, "restore", str(file))
    assert workspaces(original) == ["Later"]
    assert picture(original).read_bytes() == b"later"
    succeeds(original, "restore", "--force", str(file))
    assert workspaces(original) == ["Reading room"]
    assert picture(original).read_bytes() == b"pixels"


def test_a_damaged_file_changes_nothing(original: Running, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes((tmp_path / "file").read_bytes()[:-200])
    secret = original.home.secret.read_text()
    assert "damaged" in refused(original, "restore", "--force", str(damaged))
    assert workspaces(original) == ["Reading room"]
    assert picture(original).read_bytes() == b"pixels"
    assert original.home.secret.read_text() == secret


def test_commands_that_cannot_go_on_say_so_in_one_line(tmp_path: Path) -> None:
    running = Running(tmp_path)
    assert "does not run" in refused(running, "status")
    assert "cannot be restored" in refused(running, "restore", str(tmp_path / "nowhere"))
    assert "nowhere" in refused(running, "backup", str(tmp_path / "nowhere" / "file"))
