"""What a cluster changes in its own process, and puts back."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from shared.bus import jobs
from shared.core.settings import get_settings

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NAMED = ("DATABASE_URL", "REDIS_URL", "APP_SECRET", "APP_SECRET_PREVIOUS")


@contextmanager
def own_environment() -> Iterator[None]:
    """The stores' addresses and the secret stand in this process's environment meanwhile."""
    before = dict(os.environ)
    for name in _NAMED:
        os.environ.pop(name, None)
    _forget()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        _forget()


def _forget() -> None:
    """What this process has remembered of another cluster's addresses."""
    jobs._producer = None
    get_settings.cache_clear()


@contextmanager
def interrupting() -> Iterator[None]:
    """SIGTERM and a closed terminal end the block as Ctrl-C does."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in _STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
