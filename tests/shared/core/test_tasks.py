"""Background tasks end, also those that swallow a cancellation."""

import asyncio

from shared.core.tasks import end


async def test_a_task_that_swallows_a_cancellation_gets_another() -> None:
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if swallowed == 2:
                    raise
                swallowed += 1

    async def fails() -> None:
        raise ValueError

    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(fails())]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await end(*tasks)
    assert swallowed == 2
    assert all(task.done() for task in tasks)
