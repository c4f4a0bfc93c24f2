"""Commits that are durable and never answered: the server waits for a standby that is not there.

A transaction that waits so has written its commit record. When its server dies, the recovery
finds it committed, and whoever asked for the commit never heard of it.
"""

import contextlib
import time
from collections.abc import Iterator

import psycopg

from bench.cluster import Cluster

WAIT_SECONDS = 30.0
RELOAD_SECONDS = 0.5  # for every server process to have read the settings
_FUNCTION = """
CREATE OR REPLACE FUNCTION faults_unanswered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN {body} RETURN NULL; END $$
"""
_WAIT_FOR_STANDBY = "PERFORM set_config('synchronous_commit', 'on', true);"
_TRIGGER = """
CREATE TRIGGER faults_unanswered AFTER {event} ON {table}
FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION faults_unanswered()
"""
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


class Unanswered:
    """The commits that wait for an answer. They are lost to their clients when the server dies;
    the next ones are answered as ever."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def wait(self, count: int) -> None:
        """Until so many of them wait."""
        self._cluster.wait_for(
            lambda: self._cluster.sql(_WAITING)[0][0] >= count,
            WAIT_SECONDS,
            f"{count} commits are not answered",
        )

    def last(self) -> None:
        """From the next start on, commits are answered."""
        self._cluster.sql(_FUNCTION.format(body=""))
        with _admin(self._cluster) as admin:
            admin.execute("ALTER SYSTEM RESET ALL")


@contextlib.contextmanager
def commits_unanswered(
    cluster: Cluster, table: str, when: str, *, event: str = "UPDATE"
) -> Iterator[Unanswered]:
    """Every transaction that updates (or INSERTs) such a row commits and is not answered."""
    unanswered = Unanswered(cluster)
    cluster.sql(_FUNCTION.format(body=_WAIT_FOR_STANDBY))
    cluster.sql(_TRIGGER.format(event=event, table=table, when=when))
    try:
        with _admin(cluster) as admin:
            _set(admin, "synchronous_commit = local")
            _set(admin, "synchronous_standby_names = 'nobody'")
        yield unanswered
    finally:
        unanswered.last()
        with _admin(cluster) as admin:
            admin.execute("SELECT pg_reload_conf()")
        cluster.sql(f"DROP TRIGGER faults_unanswered ON {table}")


def _set(admin: "psycopg.Connection[tuple[object, ...]]", setting: str) -> None:
    admin.execute(f"ALTER SYSTEM SET {setting}")
    admin.execute("SELECT pg_reload_conf()")
    time.sleep(RELOAD_SECONDS)


def _admin(cluster: Cluster) -> "psycopg.Connection[tuple[object, ...]]":
    server = cluster.stores["postgres"].server
    return psycopg.connect(
        host="127.0.0.1",
        port=server.port,
        user="postgres",
        password=server.facts["admin_password"],
        dbname="template1",
        autocommit=True,
    )
