"""Ctrl-C, SIGTERM and a closed terminal: noticed, then acted on at a fitting moment."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):  # noqa: N818 - not an error: somebody asked
    """Somebody asked to stop during the start."""


class Stopping:
    """How often somebody asked to stop: once is a wish, twice is a hurry."""

    def __init__(self) -> None:
        self._asked = 0
        self._event = threading.Event()

    def ask(self, *_: object) -> None:
        self._asked += 1
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but not longer than until somebody asks; True when somebody has."""
        return self._event.wait(seconds)

    def hurry(self) -> bool:
        return self._asked > 1

    def check(self) -> None:
        """Raises Stopped when somebody has asked."""
        if self._asked:
            raise Stopped


@contextmanager
def listening() -> Iterator[Stopping]:
    """Take the signals over; they come back to what they were at the end."""
    stopping = Stopping()

    before = {number: signal.signal(number, stopping.ask) for number in _SIGNALS}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
