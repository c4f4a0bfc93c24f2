"""What a soak has shown, and what of it did not hold."""

from collections import Counter

from bench.soak.person import Person
from bench.soak.place import STREAM_SECONDS, Place
from bench.soak.report import GROWTH, growth, table
from bench.soak.watch import Sample, strays
from tests.fakes.installation import wait_for

ENDS = ("completed", "aborted", "error")
SETTLE_SECONDS = 120.0  # for the turns that run at the end


def judge(here: Place, people: list[Person], samples: list[Sample]) -> list[str]:
    """Print what was seen; what did not hold, one line each."""
    wait_for(lambda: not _active(here), SETTLE_SECONDS, "no turn runs any more")
    print(table(samples))
    counts = people[0].counts
    turns = {turn: end for person in people for turn, end in person.turns.items()}
    stored = dict(here.sql("SELECT id::text, status FROM turns"))
    ends = Counter(stored.get(turn, "gone") for turn in turns)
    attempts = here.sql("SELECT attempts, count(*) FROM turns GROUP BY 1 ORDER BY 1")
    print(f"\nturns by their stored end: {dict(ends)}; by attempts: {dict(attempts)}")
    print(f"turns by what their readers saw: {dict(Counter(turns.values()))}")
    print(f"load and faults: {dict(sorted(counts.items()))}")
    print(f"redis keys: {dict(samples[-1].keys)} (events live {STREAM_SECONDS} s here)")
    left = {
        "turns without an end": sum(n for status, n in ends.items() if status not in ENDS),
        "readers that never saw an end": list(turns.values()).count("never ended"),
        "faults of the protocol": counts["protocol faults"],
        "sends that were never accepted": counts["never accepted"],
        **_left_over(here),
    }
    print("left over: " + ", ".join(f"{name} {count}" for name, count in left.items()))
    return [f"{name}: {count}" for name, count in left.items() if count] + _grown(samples)


def _left_over(here: Place) -> dict[str, int]:
    doubled = here.sql(
        "SELECT title FROM pages WHERE title LIKE 'Soak %' GROUP BY 1 HAVING count(*) > 1"
    )
    open_generations = "ai_generations WHERE status = 'pending' AND turn_id IS NOT NULL"
    return {
        "writes that happened twice": len(doubled),
        "turns that still run": _active(here),
        "generations that nobody closed": _count(here, open_generations),
        "answers that still stream": _count(here, "ai_chat_messages WHERE status = 'streaming'"),
        "processes that nobody knows": len(strays(here)),
    }


def _grown(samples: list[Sample]) -> list[str]:
    # Before events have begun to expire there is no plateau to compare with.
    long_enough = samples[-1].at > 4 * STREAM_SECONDS
    grown = []
    for name, ratio in growth(samples).items():
        print(f"{name}: last quarter / second quarter = {ratio:.2f}")
        if long_enough and ratio > GROWTH:
            grown.append(f"{name} grew by {ratio - 1:.0%}")
    return grown


def _active(here: Place) -> int:
    return _count(here, "turns WHERE status IN ('queued','running')")


def _count(here: Place, what: str) -> int:
    return int(here.sql(f"SELECT count(*) FROM {what}")[0][0])
