"""The embedded stores: private, durable, and never left behind."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from ops.children import held
from ops.home import Home
from ops.processes import ROOT
from ops.stores import Stores, start_embedded
from ops.waiting import wait_until

STARTER = """
import pathlib, signal, sys, threading
from ops.stores import start_embedded
def start():
    print(start_embedded(pathlib.Path(sys.argv[1])).database_url, flush=True)
    signal.pause() if threading.current_thread() is threading.main_thread() else event.wait()
event = threading.Event()
if sys.argv[2] == "tied":
    start()
else:
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
"""


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    started = start_embedded(tmp_path / "home", durable=False)
    yield started
    started.stop()


def query(stores: Stores, statement: str) -> object:
    with psycopg.connect(stores.database_url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def test_the_application_is_no_superuser_and_has_the_extensions(stores: Stores) -> None:
    with psycopg.connect(stores.database_url, autocommit=True) as connection:
        assert connection.info.parameter_status("is_superuser") == "off"
        connection.execute("CREATE DATABASE another")
    another = stores.database_url.removesuffix("pageturn") + "another"
    with psycopg.connect(another) as connection:
        rows = connection.execute("SELECT extname FROM pg_extension").fetchall()
        assert {"vector", "pg_trgm", "unaccent"} <= {name for (name,) in rows}
        trigrams = connection.execute("SELECT cardinality(show_trgm('привет'))").fetchone()
    assert trigrams is not None
    assert trigrams[0] > 0


def test_both_want_a_password_and_listen_on_loopback_alone(stores: Stores) -> None:
    for url in (stores.database_url, stores.redis_url):
        parts = urlsplit(url)
        assert parts.hostname == "127.0.0.1"
        assert parts.password
    wrong = stores.database_url.replace(urlsplit(stores.database_url).password or "", "wrong")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)
    port = urlsplit(stores.redis_url).port or 0
    with redis.Redis(port=port) as client, pytest.raises(redis.AuthenticationError):
        client.ping()
    assert query(stores, "SELECT current_setting('listen_addresses')") == "127.0.0.1"


def test_no_password_stands_on_a_command_line_and_files_are_private(
    stores: Stores, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    passwords = [urlsplit(url).password or "" for url in (stores.database_url, stores.redis_url)]
    for name in ("postgres", "valkey"):
        pid = home.lock(name).read_text().split()[0]
        command = Path(f"/proc/{pid}/cmdline").read_text()
        assert not any(password in command for password in passwords)
        assert (home.root / f"{name}.json").stat().st_mode & 0o777 == 0o600
        assert (home.root / name).stat().st_mode & 0o777 == 0o700
    assert (home.root / "valkey" / "valkey.conf").stat().st_mode & 0o777 == 0o600


def test_valkey_never_evicts_and_keeps_an_append_only_file(tmp_path: Path) -> None:
    stores = start_embedded(tmp_path / "home")
    try:
        with redis.Redis.from_url(stores.redis_url, decode_responses=True) as client:
            settings = client.config_get("append*", "maxmemory-policy")
    finally:
        stores.stop()
    assert settings["appendonly"] == "yes"
    assert settings["appendfsync"] == "everysec"
    assert settings["maxmemory-policy"] == "noeviction"


def test_a_restart_keeps_data_and_ports_and_a_taken_port_is_given_up(tmp_path: Path) -> None:
    first = start_embedded(tmp_path / "home")
    query(first, "CREATE TABLE kept AS SELECT 7 AS number")
    with redis.Redis.from_url(first.redis_url) as client:
        client.set("kept", "7")
    first.stop()
    second = start_embedded(tmp_path / "home")
    second.stop()
    assert (second.database_url, second.redis_url) == (first.database_url, first.redis_url)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", urlsplit(first.database_url).port or 0))
        other.listen()
        third = start_embedded(tmp_path / "home")
        try:
            assert urlsplit(third.database_url).port != urlsplit(first.database_url).port
            assert query(third, "SELECT number FROM kept") == 7
            with redis.Redis.from_url(third.redis_url) as client:
                assert client.get("kept") == b"7"
        finally:
            third.stop()


@pytest.mark.parametrize("life", ["tied", "untied"])
def test_what_a_killed_starter_left_is_ended_and_the_data_served_again(
    tmp_path: Path, life: str
) -> None:
    home = Home(tmp_path / "home")
    command = [sys.executable, "-c", STARTER, str(home.root), life]
    starter = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    url = starter.stdout.readline().strip()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    old = home.lock("postgres").read_text()
    starter.kill()
    starter.communicate()
    if life == "tied":
        assert wait_until(lambda: not held(home.lock("postgres")), 10)
    else:
        assert held(home.lock("postgres"))
        assert held(home.lock("valkey"))
    stores = start_embedded(home.root)
    try:
        assert query(stores, "SELECT number FROM kept") == 7
        assert home.lock("postgres").read_text() != old
    finally:
        stores.stop()
    assert not held(home.lock("postgres"))
    assert not held(home.lock("valkey"))


def test_a_half_made_folder_of_an_interrupted_first_start_is_made_anew(tmp_path: Path) -> None:
    draft = tmp_path / "home" / "postgres" / "draft"
    draft.mkdir(parents=True)
    (draft / "PG_VERSION").write_text("18")
    stores = start_embedded(tmp_path / "home", durable=False)
    stores.stop()
    assert (tmp_path / "home" / "postgres" / "data" / "PG_VERSION").exists()


def test_it_works_within_a_folder_that_others_cannot_enter(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    stores = start_embedded(closed / "home", durable=False)
    try:
        assert query(stores, "SELECT 1") == 1
    finally:
        stores.stop()
    assert closed.stat().st_mode & 0o777 == 0o700
