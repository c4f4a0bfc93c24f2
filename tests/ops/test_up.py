"""`pageturn up`: what runs stays up, what cannot start says so in one line, nothing is left."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ops.processes import environment_of, process_named
from ops.up import Up
from ops.waiting import wait_until
from shared.core.settings import Settings
from tests.ops.running import NAMES, Running


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A data folder; whatever serves it at the end is told to stop."""
    one = Running(tmp_path)
    yield one
    state = one.state()
    if state is not None:
        os.kill(state.pid, signal.SIGTERM)
    assert one.all_gone()


def stop(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, ""), output


def write_row(running: Running) -> None:
    with database(running) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('still here')")


def database(running: Running) -> "psycopg.Connection[tuple[str]]":
    state = running.state()
    assert state is not None
    return psycopg.connect(state.database_url.replace("+psycopg", ""))


def test_it_restarts_what_dies_and_stops_everything_on_ctrl_c(running: Running) -> None:
    process = running.serve()
    before = {name: running.pid(name) for name in NAMES}
    for name in NAMES:
        os.kill(before[name], signal.SIGKILL)

    def all_new() -> bool:
        state = running.state()
        if state is None:
            return False
        found = {process.name: process for process in state.processes}
        return all(
            found[name].pid not in (None, before[name])
            and found[name].restarts >= 1
            and running.lives(name)
            for name in NAMES
        )

    assert wait_until(all_new, 15)
    stop(process)
    assert running.all_gone()
    assert running.state() is None


def test_a_killed_supervisor_takes_its_children_along_and_the_next_has_all_data(
    running: Running,
) -> None:
    first = running.serve()
    write_row(running)
    first.kill()
    first.communicate(timeout=10)
    assert running.all_gone()
    second = running.serve()
    with database(running) as connection:
        assert connection.execute("SELECT word FROM kept").fetchall() == [("still here",)]
    stop(second)


def test_a_second_one_for_the_same_folder_is_refused_by_name(running: Running) -> None:
    process = running.serve()
    error = Running(running.folder).refused()
    assert f"already runs for {running.home.root} (pid {process.pid})" in error
    assert all(running.lives(name) for name in NAMES)
    stop(process)


@pytest.mark.parametrize("variable", ["PAGETURN_PORT", "PAGETURN_FLOWER_PORT"])
def test_a_port_in_use_is_named_with_its_variable(running: Running, variable: str) -> None:
    port = running.port if variable == "PAGETURN_PORT" else running.flower_port
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        error = running.refused()
    assert f"Port {port}" in error
    assert variable in error
    assert not any(running.lives(name) for name in NAMES)


def test_a_database_that_is_newer_than_the_code_is_refused(running: Running) -> None:
    assert "newer than this version" in running.refused("newer")
    assert not any(running.lives(name) for name in NAMES)


def test_a_folder_that_cannot_be_written_is_named(running: Running) -> None:
    running.folder.joinpath("home").write_text("a file, not a folder")
    error = running.refused()
    assert str(running.home.root) in error
    assert "PAGETURN_HOME" in error


@pytest.mark.parametrize(("said", "allowed"), [(None, True), ("", True), ("false", False)])
def test_models_on_this_machine_are_allowed_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, said: str | None, allowed: bool
) -> None:
    monkeypatch.delenv("PAGETURN_PRIVATE_MODELS", raising=False)
    if said is not None:
        monkeypatch.setenv("PAGETURN_PRIVATE_MODELS", said)
    settings = Settings()
    assert not settings.private_models
    up = Up(settings, lambda _: None)
    environment = environment_of(process_named("worker-chat"), up.settings, {})
    assert environment["PAGETURN_PRIVATE_MODELS"] == str(allowed).lower()


def test_a_short_secret_is_refused(running: Running) -> None:
    assert "APP_SECRET must hold at least 32 bytes" in running.refused(APP_SECRET="short")


def test_the_secret_and_the_state_are_for_the_owner_alone(running: Running) -> None:
    process = running.serve()
    private = [running.home.secret, running.home.run / "state.json", running.home.log("api")]
    assert {path.stat().st_mode & 0o777 for path in private} == {0o600}
    stop(process)
    assert "at work" in running.home.log("worker-chat").read_text()
