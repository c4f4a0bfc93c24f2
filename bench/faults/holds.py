"""Moments that last: transactions that are held by locks, so that a fault can find them there."""

import contextlib
from collections.abc import Iterator

from bench.cluster import Cluster

WAIT_SECONDS = 30.0
_KEY = 470_011  # of the advisory lock, any number
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION faults_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared({_KEY}); RETURN NULL; END $$
"""
_TRIGGER = """
CREATE CONSTRAINT TRIGGER faults_hold AFTER {event} ON {table}
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION faults_hold()
"""
_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE application_name = 'pageturn' AND wait_event_type = 'Lock'
"""


def waiting(cluster: Cluster) -> int:
    """How many of Pageturn's transactions wait for a lock now."""
    return int(cluster.sql(_WAITING)[0][0])


def await_waiting(cluster: Cluster, count: int, what: str) -> None:
    cluster.wait_for(lambda: waiting(cluster) >= count, WAIT_SECONDS, f"{count} wait for {what}")


class Commits:
    """Transactions that have done everything and wait in their COMMIT."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._connection = cluster.connect()
        self._connection.execute("SELECT pg_advisory_lock(%s)", (_KEY,))

    def wait(self, count: int) -> None:
        """Until so many of them wait."""
        await_waiting(self._cluster, count, "their commit")

    def let_go(self) -> None:
        """They commit now, whatever became of the processes that asked for it."""
        self._connection.execute("SELECT pg_advisory_unlock_all()")

    def close(self) -> None:
        self._connection.close()


@contextlib.contextmanager
def commits_held(
    cluster: Cluster, table: str, when: str, *, event: str = "UPDATE"
) -> Iterator[Commits]:
    """Every transaction that updates (or INSERTs) such a row of the table waits in its COMMIT:
    between what it wrote and its knowing that it is written. `when` is SQL over NEW and OLD."""
    cluster.sql(_FUNCTION)
    cluster.sql(_TRIGGER.format(event=event, table=table, when=when))
    held = Commits(cluster)
    try:
        yield held
    finally:
        held.close()
        cluster.sql(f"DROP TRIGGER faults_hold ON {table}")
