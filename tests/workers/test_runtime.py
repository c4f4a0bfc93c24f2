"""The loop of a worker process, and what runs on it for the process's life."""

import asyncio
import gc
import threading

import pytest

from workers.runtime import LoopThread


@pytest.fixture
def loop_thread(database: object) -> LoopThread:
    thread = LoopThread()
    yield thread
    thread.stop()


def test_what_is_started_lives_though_nobody_else_refers_to_it(loop_thread: LoopThread) -> None:
    started, ended = threading.Event(), threading.Event()

    async def forever() -> None:
        started.set()
        try:
            await asyncio.get_running_loop().create_future()  # as one that waits on a socket
        finally:
            ended.set()

    loop_thread.start(forever())
    assert started.wait(5)

    async def collect() -> None:
        for _ in range(3):
            gc.collect()

    loop_thread.run(collect())
    assert not ended.is_set()


def test_what_ends_with_an_error_is_logged(
    loop_thread: LoopThread, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = threading.Event()

    async def fails() -> None:
        tried.set()
        raise ValueError

    loop_thread.start(fails())
    assert tried.wait(5)

    async def settle() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    loop_thread.run(settle())
    assert "background_failed" in capsys.readouterr().out
