"""How often and after which pauses a provider is asked again for one answer."""

import random
from collections import Counter

from shared.core.settings import Settings
from shared.core.tunables import (
    MODEL_NETWORK_TRIES,
    MODEL_RETRY_AFTER_SECONDS,
    MODEL_RETRY_GROWTH,
    MODEL_TRIES,
)
from workers.llm.base import ModelError
from workers.llm.faults import Again, Fault

_TRIES = {
    Again.NEVER: 1,
    Again.EMPTY: 2,
    Again.NETWORK: MODEL_NETWORK_TRIES,
    Again.BUSY: MODEL_TRIES,
}


class Patience:
    """For one answer of which nothing has come yet."""

    def __init__(self, settings: Settings) -> None:
        self._first = settings.model_retry_seconds
        self._failed: Counter[Again] = Counter()

    def pause(self, fault: Fault) -> float:
        """Seconds until the next request. Raises the fault's error when there is to be none."""
        self._failed[fault.again] += 1
        failed = self._failed.total()
        if self._failed[fault.again] >= _TRIES[fault.again] or failed >= MODEL_TRIES:
            raise fault.error from None
        if fault.after is not None and fault.after > MODEL_RETRY_AFTER_SECONDS:
            raise _later(fault.error, fault.after) from None
        pause = self._first * min(1 << (failed - 1), MODEL_RETRY_GROWTH)
        # Not all at once: many turns may have been refused together.
        return max(pause * random.uniform(0.8, 1.2), fault.after or 0.0)  # noqa: S311


def _later(error: ModelError, seconds: float) -> ModelError:
    text = f"{error.message.rstrip('.')}. It says to try again in {_duration(seconds)}."
    return ModelError(text, code=error.code, status=error.status)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
