"""Is the process there, is everything there that it needs, and how has it been."""

import asyncio
from collections.abc import Awaitable

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from redis.asyncio import Redis
from sqlalchemy import text
from starlette.responses import JSONResponse, Response

from api.health.metrics import Metrics
from shared.core.db import Database
from shared.core.liveness import alive
from shared.core.tunables import READY_CHECK_SECONDS

router = APIRouter(tags=["health"])

_LEAVING = "This process is about to stop."


@router.get("/healthz", responses={503: {"description": "It is about to stop."}})
async def healthz(request: Request) -> JSONResponse:
    """The process serves, whatever else is missing; 503 when it is leaving. What a balancer
    should ask: were all red for want of a worker, nobody could even read."""
    if request.app.state.leaving:
        return _red("leaving", {}, _LEAVING)
    return JSONResponse({"status": "ok"})


@router.get("/readyz", responses={503: {"description": "Something is missing."}})
async def readyz(request: Request) -> JSONResponse:
    """Database, Redis and a worker of each kind, each `ok` or `missing`; 503 while one
    is missing, or when this process is leaving."""
    database: Database = request.app.state.database
    redis: Redis = request.app.state.redis
    names = ("database", "redis", "chatWorker", "rpcWorker", "indexWorker")
    answers = await asyncio.gather(
        _holds(_database(database)),
        _holds(_redis(redis)),
        _holds(_worker(redis, "chat")),
        _holds(_worker(redis, "rpc")),
        _holds(_worker(redis, "index")),
    )
    checks = {
        name: "ok" if there else "missing" for name, there in zip(names, answers, strict=True)
    }
    if request.app.state.leaving:
        return _red("leaving", checks, _LEAVING)
    if all(answers):
        return JSONResponse({"status": "ready", "checks": checks})
    missing = ", ".join(name for name, there in checks.items() if there == "missing")
    return _red("not_ready", checks, f"Missing: {missing}.")


def _red(status: str, checks: dict[str, str], message: str) -> JSONResponse:
    body = {"status": status, "checks": checks, "error": status, "message": message}
    return JSONResponse(body, status_code=503)


async def _holds(check: Awaitable[bool]) -> bool:
    """Whatever goes wrong with a check, what it looks for is not there."""
    try:
        async with asyncio.timeout(READY_CHECK_SECONDS):
            return await check
    except Exception:
        return False


async def _database(database: Database) -> bool:
    async with database.session() as session:
        return bool(await session.scalar(text("SELECT 1")))


async def _redis(redis: "Redis") -> bool:
    return bool(await redis.ping())


async def _worker(redis: "Redis", kind: str) -> bool:
    return await alive(redis, kind) > 0


@router.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Counts and times in Prometheus' format; no content, no ids."""
    figures: Metrics = request.app.state.metrics
    return Response(await figures.text(), media_type=CONTENT_TYPE_LATEST)
