"""Leaving without being missed: between the signal to stop and the server's own stopping.

First /healthz and /readyz turn red, so that a balancer sends nobody more; after the time that
it needs to notice, open streams end, for their readers to go on elsewhere, and the server
closes: it takes no connection and answers what it was asked before.
"""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from starlette.datastructures import State

from api.stream.hub import Hub
from shared.core.settings import Settings


@contextmanager
def leaving_gently(state: State) -> Iterator[None]:
    """Stand before the server's handlers of signals; call it in the main thread, when they are
    set. Needs `settings` and `hub` in the state; sets `leaving` when told to stop. Who says it
    twice is in a hurry."""
    settings: Settings = state.settings
    hub: Hub = state.hub
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def close(number: int, frame: FrameType | None) -> None:
        hub.let_go()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    def asked(number: int, frame: FrameType | None) -> None:
        hurry, state.leaving = state.leaving, True
        seconds = 0.0 if hurry else settings.drain_seconds
        loop.call_soon_threadsafe(loop.call_later, seconds, close, number, frame)

    for number in before:
        signal.signal(number, asked)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
