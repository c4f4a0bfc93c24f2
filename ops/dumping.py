"""The database as one file and back, by PostgreSQL's own programs from the wheel."""

import os
import subprocess
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from ops.errors import OpsError
from ops.programs import postgres_programs
from shared.core.tunables import RESTORE_LOCK_SECONDS, STORE_CONNECT_SECONDS

# Ours are all objects of the schema that belong to no extension.
_TABLES: LiteralString = """
    SELECT count(*) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
      AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
"""
_BEGIN = f"""
SET LOCAL lock_timeout = '{RESTORE_LOCK_SECONDS}s';
SET LOCAL client_min_messages = 'warning';
"""
_EMPTY = """
DO $$
DECLARE
    command text;
    commands text[] := array(
        SELECT format('DROP %s IF EXISTS %s CASCADE',
                      CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                                   WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass)
        FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
          AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
        UNION ALL
        SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', oid::regprocedure)
        FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
        UNION ALL
        SELECT format('DROP TYPE IF EXISTS %s CASCADE', oid::regtype)
        FROM pg_type
        WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
          AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_type.oid AND deptype = 'e')
    );
BEGIN
    FOREACH command IN ARRAY commands LOOP
        EXECUTE command;
    END LOOP;
END $$;
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;
"""


def revision(database_url: str) -> str:
    """The schema's revision. Raises OpsError where there is none."""
    try:
        with _connect(database_url) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    if row is None:
        raise OpsError("There is nothing to back up: the database holds no Pageturn")
    return str(row[0])


def is_empty(database_url: str) -> bool:
    """Whether the database holds no table of anybody's."""
    with _connect(database_url) as connection:
        row = connection.execute(_TABLES).fetchone()
    return row is not None and row[0] == 0


def dump(database_url: str, target: Path, home: Path) -> None:
    """One consistent snapshot into a file. Raises OpsError."""
    options = ["--format=custom", "--compress=none", "--no-owner", "--no-privileges"]
    _run(
        [*_program(home, "pg_dump"), *options, "--schema=public", f"--file={target}"],
        database_url,
    )


def load(database_url: str, source: Path, home: Path) -> None:
    """Replace what the database holds, in one transaction: all or, with OpsError, nothing."""
    empty, script = source.with_name("empty.sql"), source.with_name("load.sql")
    empty.write_text(_BEGIN + _EMPTY)
    options = ["--no-owner", "--no-privileges", "--schema=public", f"--file={script}"]
    _run([*_program(home, "pg_restore"), *options, str(source)], database_url)
    psql = [*_program(home, "psql"), "--no-psqlrc", "--quiet", "--single-transaction"]
    files = [f"--file={empty}", f"--file={script}"]
    _run([*psql, "--set=ON_ERROR_STOP=1", "--output=/dev/null", *files], database_url)


def _program(home: Path, name: str) -> list[str]:
    return [str(postgres_programs(home, None) / name)]


def _run(argv: list[str], database_url: str) -> None:
    environment = dict(os.environ) | _variables(database_url)
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        reason = lines[0] if lines else f"exit code {done.returncode}"
        raise OpsError(f"{Path(argv[0]).name} failed: {reason}")


def _variables(database_url: str) -> dict[str, str]:
    """The URL as libpq's variables: a password on a command line would be public."""
    names = {option.keyword.decode(): option.envvar for option in pq.Conninfo.get_defaults()}
    given = conninfo_to_dict(_plain(database_url))
    pairs = ((names.get(keyword), value) for keyword, value in given.items())
    return {name.decode(): str(value) for name, value in pairs if name is not None}


def _connect(database_url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    try:
        return psycopg.connect(_plain(database_url), connect_timeout=STORE_CONNECT_SECONDS)
    except psycopg.OperationalError as error:
        raise OpsError(f"The database does not answer: {str(error).splitlines()[0]}") from error


def _plain(database_url: str) -> str:
    return database_url.replace("postgresql+psycopg://", "postgresql://", 1)
