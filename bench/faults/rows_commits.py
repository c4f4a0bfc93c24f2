"""PostgreSQL goes while a commit is on its way: done and not answered, or undone."""

import random
from dataclasses import dataclass
from typing import Any

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.breaking import Break, Play, broken_row, restarted
from bench.faults.holds import commits_held
from bench.faults.judge import judge
from bench.faults.row import Trial
from bench.faults.takes import Take, all_over, any_instant, begin
from bench.faults.uncertain import commits_unanswered


@dataclass(frozen=True)
class Commit:
    """A commit of a turn's: the rows that it writes, and when it wrote them."""

    table: str
    when: str
    at: str
    event: str = "UPDATE"


WRITE = Commit("turn_tool_calls", "NEW.status = 'ok'", "c.finished_at")
END = Commit("turns", "NEW.status NOT IN ('queued', 'running')", "t.finished_at")
SEND = Commit("turns", "true", "t.created_at", "INSERT")

_WRITTEN = """
SELECT {at} < %s FROM turns t JOIN ai_chats h ON h.id = t.chat_id
LEFT JOIN turn_tool_calls c ON c.turn_id = t.id WHERE h.alias = %s
"""


def at_commit(commit: Commit, plan: str, *, done: bool) -> Play:
    """`done`: it is durable, and its client never hears of it; else it does not come about."""
    held = commits_unanswered if done else commits_held
    writes = plan.count("write")

    def play(cluster: Cluster, rng: random.Random, count: int, break_: Break) -> list[Trial]:
        with held(cluster, commit.table, commit.when, event=commit.event) as commits:
            takes = begin(cluster, count, plan)
            commits.wait(count)
            any_instant(rng)
            [(before,)] = cluster.sql("SELECT clock_timestamp()")
            if done:
                commits.last()
            up = break_(cluster, rng)
        all_over(cluster, takes)
        return [
            judge(
                cluster,
                take,
                writes=writes,
                seconds=checks.ended(take, up),
                also=[
                    *_stood(cluster, take, commit, before, {done, done or break_ is restarted}),
                    *checks.asked_once(cluster, take, 1),
                    *([] if commit is SEND else checks.one_connection(take)),
                ],
            )
            for take in takes
        ]

    return play


def _stood(
    cluster: Cluster, take: Take, commit: Commit, before: Any, either: set[bool]
) -> list[str]:
    """Whether what stands in the end was written before the fault. A server that is told to
    stop may let go the commits that we hold before it ends them."""
    [(stood,)] = cluster.sql(_WRITTEN.format(at=commit.at), before, take.trial)
    return [] if stood in either else ["the fault did not come in the moment"]


ROWS = (
    broken_row(
        "pg-commit", "a write's commit, undone", at_commit(WRITE, "write-then-talk", done=False)
    ),
    broken_row(
        "pg-uncertain",
        "a write's commit, done and not answered",
        at_commit(WRITE, "write-then-talk", done=True),
        hard=True,
    ),
    broken_row(
        "pg-uncertain-end",
        "the end's commit, done and not answered",
        at_commit(END, "talk", done=True),
    ),
    broken_row(
        "pg-uncertain-send",
        "a send's commit, done and not answered",
        at_commit(SEND, "talk", done=True),
    ),
)
