"""What became of a turn: in the database, and for the person who asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.cluster import Cluster
from bench.faults.row import Trial
from bench.faults.takes import Take

TERMINAL = ("completed", "aborted", "error")
_MESSAGE = {"completed": "complete", "aborted": "aborted", "error": "error"}

_TURNS = """
SELECT t.id, t.status, t.error_code, t.assistant_message_id, t.chat_id
FROM turns t JOIN ai_chats c ON c.id = t.chat_id WHERE c.alias = %s
"""
_MESSAGES = "SELECT id, status FROM ai_chat_messages WHERE chat_id = %s AND role = 'assistant'"
_GENERATIONS = """
SELECT status, finished_at IS NOT NULL FROM ai_generations WHERE turn_id = %s AND type = 'chat'
"""
_PENDING = "SELECT count(*) FROM turn_tool_calls WHERE turn_id = %s AND status = 'pending'"
_PAGES = "SELECT count(*), coalesce(max(version), 1) FROM pages WHERE title LIKE %s"


@dataclass
class Found:
    """What is wrong with one turn."""

    lost: list[str]
    doubled: list[str]
    other: list[str]

    def count(self, what: str, found: int, wanted: int = 1) -> None:
        if found != wanted:
            (self.lost if found < wanted else self.doubled).append(f"{found} {what}")


def judge(
    cluster: Cluster,
    take: Take,
    *,
    seconds: float | None = None,
    writes: int = 0,
    ends: Sequence[str] = ("completed",),
    also: Iterable[str] = (),
    reader: bool = True,
) -> Trial:
    """One turn in a terminal state of `ends`, one answer stored in it, one closed bill, `writes`
    pages with the trial's id, and a reader that saw that one answer whole. `also` is what a row
    found besides; `reader=False` where the person may no longer look."""
    found = Found([], [], list(also))
    turns = cluster.sql(_TURNS, take.trial)
    found.count("turns", len(turns))
    for turn in turns[:1]:
        _judge_turn(cluster, turn, ends, found)
    pages, version = cluster.sql(_PAGES, f"Trial {take.trial} %")[0]
    found.count("writes", pages, writes)
    found.count("versions of what was written", version)
    if reader:
        if not take.reader.over:
            found.lost.append("the reader saw no end")
        found.other += [f"reader: {fault}" for fault in take.reader.faults]
    cluster.stub.forget(take.trial)
    cluster.watch.forget(take.trial)
    note = "; ".join(found.lost + found.doubled + found.other)
    return Trial(bool(found.lost), bool(found.doubled), seconds, note)


def _judge_turn(
    cluster: Cluster, turn: tuple[object, ...], ends: Sequence[str], found: Found
) -> None:
    turn_id, status, code, message_id, chat_id = turn
    if status not in TERMINAL:
        found.lost.append(f"the turn is {status}")
        return
    if status not in ends:
        found.other.append(f"the turn is {status} ({code}), not {' or '.join(ends)}")
    messages = cluster.sql(_MESSAGES, chat_id)
    found.count("answers", len(messages))
    for stored_id, stored in messages:
        if stored_id != message_id or stored != _MESSAGE[str(status)]:
            found.other.append(f"the turn is {status}, its answer {stored}")
    bills = cluster.sql(_GENERATIONS, turn_id)
    found.count("bills", len(bills))
    if any(stored == "pending" or not closed for stored, closed in bills):
        found.lost.append("the bill was not closed")
    if cluster.sql(_PENDING, turn_id)[0][0]:
        found.other.append("a call has no outcome")
