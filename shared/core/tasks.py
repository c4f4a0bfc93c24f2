"""Ending background tasks for certain."""

import asyncio
from typing import Any

from shared.core.tunables import CANCEL_AGAIN_SECONDS


async def end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel tasks and wait until they have ended; what they raise is dropped.

    Cancels again until it holds: before Python 3.12 `asyncio.wait_for`, in which the Redis
    client sends, can swallow a cancellation.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=CANCEL_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()
