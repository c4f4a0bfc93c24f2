"""An answer begins in time, or there is a clear error."""

import asyncio

import httpx2
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.middleware import DeadlineMiddleware


async def get(app: DeadlineMiddleware) -> httpx2.Response:
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get("/")


async def test_what_does_not_begin_in_time_is_a_503() -> None:
    ended = asyncio.Event()

    async def hangs(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    response = await get(DeadlineMiddleware(hangs, 0.05))
    assert response.status_code == 503
    assert response.json()["error"] == "timeout"
    assert ended.is_set()


async def test_a_stream_that_has_begun_may_take_longer() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        async def body() -> object:
            yield b"begun "
            await asyncio.sleep(0.15)
            yield b"ended"

        await StreamingResponse(body())(scope, receive, send)

    response = await get(DeadlineMiddleware(slow, 0.05))
    assert (response.status_code, response.text) == (200, "begun ended")
