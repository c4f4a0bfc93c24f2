"""Bounded waiting on a condition."""

import time
from collections.abc import Callable

from shared.core.tunables import WAIT_STEP_SECONDS


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Look at the condition until it holds (True) or the seconds are over (False)."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(WAIT_STEP_SECONDS)
    return True
