"""The API process: its parts, and what it holds while it runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.types import Lifespan

from api import errors
from api.accounts.endpoints import router as accounts
from api.accounts.spaces import router as spaces
from api.chat.endpoints import router as chat
from api.chat.queue import router as chat_queue
from api.deps import refuse_foreign_origin
from api.frontend import Frontend
from api.health.endpoints import router as health
from api.leaving import leaving_gently
from api.middleware import BodyLimitMiddleware, DeadlineMiddleware, RequestMiddleware
from api.schemas import ErrorBody
from api.search.endpoints import router as search
from api.settings.catalogue import router as ai_models
from api.settings.endpoints import router as ai_settings
from api.settings.status import router as ai_status
from api.stream.lifecycle import streaming
from api.wiki.endpoints import router as wiki
from api.wiki.history import router as wiki_history
from shared.accounts.throttle import SignInThrottle
from shared.bus.jobs import drain
from shared.core.db import Database, make_engine
from shared.core.logging import configure_logging
from shared.core.redis import make_redis
from shared.core.secrets import SecretBox
from shared.core.settings import get_settings
from shared.core.throttle import Throttle
from shared.core.tunables import CHAT_SENDS_PER_MINUTE, MAX_BODY_BYTES, REQUEST_SECONDS

V1: tuple[APIRouter, ...] = (
    accounts,
    spaces,
    wiki,
    wiki_history,
    search,
    chat,
    chat_queue,
    ai_settings,
    ai_models,
    ai_status,
)

_ERRORS = {
    400: "The request cannot be taken as it is.",
    401: "Sign in first.",
    403: "You may not do this.",
    404: "There is no such thing, or you may not see it.",
    409: "It changed meanwhile.",
    413: "The body is too large.",
    422: "The input cannot be taken.",
    429: "Too many requests; `Retry-After` says how long to wait.",
    503: "Something that this needs is not there now.",
}


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open what requests share, and close it."""
    state, settings = app.state, get_settings()
    state.settings = settings
    state.secrets = SecretBox(*settings.require_app_secrets())
    state.database = Database(make_engine(settings.require_database_url()))
    state.redis = make_redis(settings)
    state.sign_in_throttle = SignInThrottle(settings.require_redis_url(), state.redis)
    state.chat_throttle = Throttle(
        settings.require_redis_url(),
        state.redis,
        per_minute=CHAT_SENDS_PER_MINUTE,
        namespace="chat",
        too_many="You are asking faster than the agent may answer: wait a little and try again.",
        away="The agent cannot be asked just now: try again in a moment.",
    )
    try:
        async with streaming(state):
            yield
    finally:
        await drain()
        await state.redis.aclose()
        await state.database.close()


@asynccontextmanager
async def process_lifespan(app: FastAPI) -> AsyncIterator[None]:
    """The same for a process of its own: logs go to standard error as JSON lines, and it is
    told by signals to stop."""
    configure_logging("api", get_settings().log_level)
    async with lifespan(app):
        with leaving_gently(app.state):
            yield


def create_app(lifespan: Lifespan[FastAPI] = lifespan) -> FastAPI:
    """The application; its clients are opened by its lifespan."""
    app = FastAPI(
        title="Pageturn",
        summary="A self-hosted team wiki with an agent in it.",
        version="0.1.0",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
    )
    responses = {
        status: {"model": ErrorBody, "description": text} for status, text in _ERRORS.items()
    }
    for router in V1:
        app.include_router(
            router,
            prefix="/v1",
            dependencies=[Depends(refuse_foreign_origin)],
            responses=responses,  # type: ignore[arg-type]
        )
    app.include_router(health)
    app.router.default = Frontend()
    app.add_middleware(BodyLimitMiddleware, limit=MAX_BODY_BYTES)
    app.add_middleware(DeadlineMiddleware, seconds=REQUEST_SECONDS)
    app.add_middleware(RequestMiddleware)  # added last: outermost
    errors.install(app)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


app = create_app(process_lifespan)
