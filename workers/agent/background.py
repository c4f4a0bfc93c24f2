"""What a chat worker does beside its turns: leases, stop signals, the reaper."""

import asyncio

from workers.agent import window
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
    """Begin keeping leases and hearing stops, and make ready what the first turn would wait
    for: the tokenizer's tables take a third of a second to load."""
    loop.start(keeper().keep_leases())
    loop.start(keeper().hear_stops())
    loop.start(_warm())


async def _warm() -> None:
    await asyncio.to_thread(window.tokens, ["warm"])
