"""Embedded PostgreSQL: the wheel's programs, started by us.

Scram with a generated password on the loopback address, no socket. The application's role is
no superuser; the extensions are put into `template1` by the superuser, so that every database
made here has them.
"""

import locale
import os
import shutil
import signal
from pathlib import Path
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from ops import children
from ops.children import Child
from ops.errors import StoreError
from ops.programs import postgres_programs
from ops.server import Server, seen_from
from shared.core.tunables import STORE_CONNECT_SECONDS, STORE_START_SECONDS

ROLE = DATABASE = "pageturn"
_EXTENSIONS = ("vector", "pg_trgm", "unaccent")
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "128MB",
    "log_line_prefix": "%m [%p] ",
    # No statement, value or key of the application's may stand in the log.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
_FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Postgres(Server):
    """The data folder's PostgreSQL."""

    name: ClassVar[str] = "postgres"
    setting: ClassVar[str] = "database_url"
    gentle: ClassVar[signal.Signals] = signal.SIGINT

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    def prepare(self) -> None:
        """Make the cluster; a half-made one of an interrupted run is made anew."""
        if not (self.folder / "data").exists():
            self._initialise()

    def child(self) -> Child:
        programs = postgres_programs(self.home.root, self.identity)
        data = self.folder / "data"
        settings = _SETTINGS | ({} if self.durable else _FORGETFUL) | {"port": str(self.port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return Child(
            argv=[str(programs / "postgres"), "-D", seen_from(data), *options],
            lock=self.home.lock(self.name),
            log=self.home.log(self.name),
            cwd=data,
            env=_environment(),
            identity=self.identity,
            death_signal=signal.SIGINT,
        )

    def answers(self) -> bool:
        try:
            self._admin().close()
        except psycopg.OperationalError:
            return False
        return True

    def settle(self) -> None:
        """The role, the extensions and the database, each where it is missing."""
        with self._admin() as admin:
            for extension in _EXTENSIONS:
                admin.execute(
                    sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension))
                )
            if not _exists(admin, "SELECT 1 FROM pg_roles WHERE rolname = %s", ROLE):
                admin.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(sql.Identifier(ROLE)))
            admin.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(ROLE), self.password)
            )
        with self._admin() as admin:  # template1 is copied only while nobody else uses it
            if not _exists(admin, "SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
                admin.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(
                        sql.Identifier(DATABASE), sql.Identifier(ROLE)
                    )
                )

    def _admin(self) -> "psycopg.Connection[tuple[Any, ...]]":
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="postgres",
            password=self.facts["admin_password"],
            dbname="template1",
            connect_timeout=STORE_CONNECT_SECONDS,
            autocommit=True,
        )

    def _initialise(self) -> None:
        draft = self.folder / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self.own(draft)
        password = self.folder / "password"
        password.write_text(self.facts["admin_password"])
        password.chmod(0o600)
        self.own(password)
        try:
            self._run_initdb(draft)
            draft.rename(self.folder / "data")
        finally:
            password.unlink()

    def _run_initdb(self, data: Path) -> None:
        programs = postgres_programs(self.home.root, self.identity)
        process = children.start(
            Child(
                argv=[
                    str(programs / "initdb"),
                    f"--pgdata={seen_from(data)}",
                    f"--pwfile={seen_from(data)}/../password",
                    "--username=postgres",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    f"--locale={_unicode_locale()}",
                    "--data-checksums",
                    *([] if self.durable else ["--no-sync"]),
                ],
                lock=self.home.lock("initdb"),
                log=self.home.log(self.name),
                cwd=data,
                env=_environment(),
                identity=self.identity,
            )
        )
        children.await_end(process, STORE_START_SECONDS)
        if process.returncode != 0:
            raise StoreError(f"PostgreSQL's folder was not made: see {self.home.log(self.name)}")


def _exists(admin: "psycopg.Connection[tuple[Any, ...]]", query: str, name: str) -> bool:
    return admin.execute(query, (name,)).fetchone() is not None


def _environment() -> dict[str, str]:
    """Nothing of ours: neither secrets nor libpq's variables belong to the server."""
    kept = ("PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C"}


def _unicode_locale() -> str:
    """A locale in which letters beyond ASCII are letters: trigrams need one."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        for name in ("C.UTF-8", "en_US.UTF-8"):
            try:
                locale.setlocale(locale.LC_CTYPE, name)
            except locale.Error:
                continue
            return name
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return "C"
