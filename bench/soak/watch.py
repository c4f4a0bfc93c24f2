"""What is measured: memory, connections, keys, and what was left lying about."""

import contextlib
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.soak.place import Place

STUCK_SECONDS = 180  # an active turn this old is nobody's: three attempts and their pauses


@dataclass(frozen=True)
class Sample:
    """`memory` is the proportional set size in MB, of a process and its children, by name."""

    at: float
    memory: dict[str, float]
    pids: dict[str, int]
    files: dict[str, int]
    database_connections: int
    redis_clients: int
    redis_keys: int
    redis_megabytes: float
    active: int
    stuck: int
    unclosed: int
    keys: "Counter[str]" = field(default_factory=Counter)


def sample(place: Place, begun: float) -> Sample:
    pids = place.pids()
    redis = place.redis()
    with contextlib.closing(redis):
        info = redis.info()
        keys: Counter[str] = Counter()
        for key in redis.scan_iter(count=1_000):
            keys[_family(key.decode(errors="replace"))] += 1
    (connections,) = place.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pageturn'"
    )[0]
    active, stuck = place.sql(
        "SELECT count(*), count(*) FILTER (WHERE created_at < now() - "
        f"interval '{STUCK_SECONDS} s') FROM turns WHERE status IN ('queued','running')"
    )[0]
    (unclosed,) = place.sql(
        "SELECT count(*) FROM ai_generations g LEFT JOIN turns t ON t.id = g.turn_id "
        "WHERE g.status = 'pending' AND g.turn_id IS NOT NULL "
        "AND t.status NOT IN ('queued','running')"
    )[0]
    return Sample(
        at=time.monotonic() - begun,
        memory={name: memory(pid) for name, pid in pids.items()},
        pids=pids,
        files={name: _files(pid) for name, pid in pids.items()},
        database_connections=connections,
        redis_clients=info["connected_clients"],
        redis_keys=sum(keys.values()),
        redis_megabytes=info["used_memory"] / 1e6,
        active=active,
        stuck=stuck,
        unclosed=unclosed,
        keys=keys,
    )


def _family(key: str) -> str:
    """A key without its ids."""
    if key.startswith("pt:turn:"):
        return "pt:turn:*:" + key.rpartition(":")[2]
    return ":".join(part for part in key.split(":") if len(part) < 24 and "-" not in part)


def memory(pid: int) -> float:
    """Proportional set size in MB, children included; 0 for a process that is gone."""
    total = 0.0
    for each in (pid, *_children(pid)):
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{each}/smaps_rollup").read_text()
            line = next(line for line in text.splitlines() if line.startswith("Pss:"))
            total += int(line.split()[1]) / 1000
    return total


def _children(pid: int) -> list[int]:
    try:
        direct = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    found = [int(child) for child in direct]
    return found + [inner for child in found for inner in _children(child)]


def _files(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def strays(place: Place) -> list[int]:
    """Processes of this installation that neither the supervisor nor we know of."""
    marker = f"PAGETURN_HOME={place.installation.home}".encode()
    assert place.installation.process is not None
    known = {place.installation.process.pid, *place.pids().values()}
    known |= {inner for pid in list(known) for inner in _children(pid)}
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in known | {os.getpid()}:
            with contextlib.suppress(OSError):
                if marker in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found
