"""What a running supervisor tells other shells. The file has mode 0600: it holds URLs."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ops import children
from ops.errors import NotRunningError
from ops.home import Home, read_json, write_private


@dataclass(frozen=True)
class ProcessState:
    """One supervised process. `started` is in seconds since 1970; `pid` is None while it waits."""

    name: str
    pid: int | None
    started: float
    restarts: int
    log: str


@dataclass(frozen=True)
class State:
    """A supervisor's own account of itself. `key_id` names the APP_SECRET of its processes."""

    pid: int
    address: str
    flower_address: str
    database_url: str
    redis_url: str
    processes: tuple[ProcessState, ...]
    key_id: str = ""


def _path(home: Home) -> Path:
    return home.run / "state.json"


def write_state(home: Home, state: State) -> None:
    write_private(_path(home), json.dumps(asdict(state)))


def clear_state(home: Home) -> None:
    _path(home).unlink(missing_ok=True)


def read_state(home: Home) -> State:
    """The state of the supervisor that runs now. Raises NotRunningError."""
    if not children.held(home.lock("supervisor")):
        raise NotRunningError(f"Pageturn does not run for {home.root}")
    value = read_json(_path(home))
    if not value:
        raise NotRunningError(f"Pageturn is just starting for {home.root}")
    processes = tuple(ProcessState(**process) for process in value.pop("processes"))
    return State(processes=processes, **value)


def runs_with(home: Home) -> str | None:
    """The key id of the secret that the processes run with; None when a supervisor of this
    folder can only start later. Raises NotRunningError while one is just starting."""
    lock = home.lock("supervisor")
    if not children.held(lock) or lock.read_text().strip() == str(os.getpid()):
        return None
    return read_state(home).key_id


def lives(home: Home, process: ProcessState) -> bool:
    """Whether the process is there, whatever the supervisor believes."""
    return process.pid is not None and children.held(home.lock(process.name))
