"""What endpoints ask for: a session that is one transaction, and who is asking."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import service
from shared.accounts.actor import Actor
from shared.core.db import Database
from shared.core.errors import ForbiddenError, UnauthenticatedError
from shared.core.secrets import SecretBox
from shared.core.settings import Settings

SESSION_COOKIE = "pageturn_session"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_bearer = HTTPBearer(auto_error=False, description="An access token, or an API key (`pt_…`).")
_cookie = APIKeyCookie(
    name=SESSION_COOKIE, auto_error=False, description="Set by signing in; HttpOnly."
)


class ForeignOriginError(ForbiddenError):
    """This request comes from another site."""

    code = "foreign_origin"


async def get_session(request: Request) -> AsyncIterator[AsyncSession]:
    database: Database = request.app.state.database
    async with database.session() as session:
        yield session


# "function": committed before the answer leaves, so that an answer is never ahead of the
# database and a stream holds no connection.
SessionDep = Annotated[AsyncSession, Depends(get_session, scope="function")]


async def get_app_settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


SettingsDep = Annotated[Settings, Depends(get_app_settings)]


async def get_secret_box(request: Request) -> SecretBox:
    box: SecretBox = request.app.state.secrets
    return box


SecretBoxDep = Annotated[SecretBox, Depends(get_secret_box)]


async def refuse_foreign_origin(request: Request) -> None:
    """A browser's cookie may only change things from our own pages.

    The browser's own word counts first. Else hosts are compared, not schemes: a proxy in
    front may have ended TLS, and may name the host that the browser asked for. Another site
    can set neither header.
    """
    headers = request.headers
    if request.method in _SAFE_METHODS or "authorization" in headers:
        return
    site = headers.get("sec-fetch-site")
    if site == "same-origin":
        return
    origin = headers.get("origin")
    if origin is None and site in (None, "none"):
        return
    host = (origin or "").partition("://")[2].lower()
    ours = {headers.get(name, "").lower() for name in ("host", "x-forwarded-host")}
    if not host or host not in ours:
        raise ForeignOriginError


async def current_actor(
    request: Request,
    session: SessionDep,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    cookie: Annotated[str | None, Depends(_cookie)],
) -> Actor:
    """Who asks, by header or else by cookie. Raises UnauthenticatedError."""
    if "authorization" in request.headers:
        token = None if bearer is None else bearer.credentials
    else:
        token = cookie
    if not token:
        raise UnauthenticatedError
    return await service.authenticate(session, token)


CurrentActor = Annotated[Actor, Depends(current_actor)]
