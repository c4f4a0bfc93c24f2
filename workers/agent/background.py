"""What a chat worker does beside its turns: leases, stop signals, the reaper."""

from workers.agent.keeper import Keeper
from workers.runtime import LoopThread, current

_keeper: Keeper | None = None


def keeper() -> Keeper:
    """This process's keeper of leases."""
    global _keeper
    if _keeper is None:
        _keeper = Keeper(current())
    return _keeper


def start(loop: LoopThread) -> None:
    """Begin keeping leases and hearing stops."""
    loop.start(keeper().keep_leases())
    loop.start(keeper().hear_stops())
