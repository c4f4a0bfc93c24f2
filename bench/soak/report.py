"""The table of a soak, and what follows from it."""

from statistics import mean

from bench.soak.place import STEADY
from bench.soak.watch import Sample

GROWTH = 1.2  # from the second quarter to the last; caches are full by then
SUPERVISED = ("api", "worker-chat", "worker-rpc", "worker-index", "beat", "flower")
NAMES = (*STEADY, *SUPERVISED, "valkey", "postgres")


def table(samples: list[Sample], rows: int = 13) -> str:
    """`rows` of the samples, evenly spread. Memory in MB; a star: another process than before."""
    head = "   min " + "".join(f"{name:>13}" for name in NAMES)
    head += f"{'db conn':>9}{'redis cl':>9}{'keys':>7}{'redis MB':>9}{'files':>9}{'active':>7}"
    lines = [head + f"{'stuck':>6}"]
    count = min(rows, len(samples))
    chosen = [samples[n * (len(samples) - 1) // max(count - 1, 1)] for n in range(count)]
    before: Sample | None = None
    for one in chosen:
        lines.append(_row(one, before))
        before = one
    return "\n".join(lines)


def _row(one: Sample, before: Sample | None) -> str:
    cells = []
    for name in NAMES:
        other = before is not None and before.pids.get(name) != one.pids.get(name)
        cells.append(f"{one.memory.get(name, 0.0):>12.1f}{'*' if other else ' '}")
    files = "/".join(str(one.files.get(name, 0)) for name in STEADY)
    return (
        f"{one.at / 60:>6.1f} {''.join(cells)}{one.database_connections:>9}{one.redis_clients:>9}"
        f"{one.redis_keys:>7}{one.redis_megabytes:>9.1f}{files:>9}{one.active:>7}{one.stuck:>6}"
    )


def growth(samples: list[Sample]) -> dict[str, float]:
    """Of the processes that lived through it: the last quarter's mean, in parts of the second's;
    memory, open files, and what all share."""
    quarter = len(samples) // 4
    if quarter == 0:
        return {}
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    found = {}
    for name in STEADY:
        found[f"memory of {name}"] = _ratio(
            [s.memory[name] for s in early], [s.memory[name] for s in late]
        )
        found[f"files of {name}"] = _ratio(
            [float(s.files[name]) for s in early], [float(s.files[name]) for s in late]
        )
    for title, pick in (
        ("database connections", lambda s: float(s.database_connections)),
        ("redis clients", lambda s: float(s.redis_clients)),
        ("redis keys", lambda s: float(s.redis_keys)),
        ("redis memory", lambda s: s.redis_megabytes),
    ):
        found[title] = _ratio([pick(s) for s in early], [pick(s) for s in late])
    return found


def _ratio(early: list[float], late: list[float]) -> float:
    return mean(late) / mean(early) if early and mean(early) else 1.0
