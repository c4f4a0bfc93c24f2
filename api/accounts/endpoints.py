"""Signing in and out, and one's sessions."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from api.accounts.schemas import (
    MeOut,
    PasswordChange,
    SessionList,
    SessionOut,
    SignedInOut,
    SignInLinkRequest,
    SignInRequest,
    UserOut,
)
from api.deps import SESSION_COOKIE, CurrentActor, SessionDep
from api.paging import Cursor, Limit, decode_cursor, encode_cursor
from shared.accounts import repository, service
from shared.accounts.models import User
from shared.accounts.service import SignedIn
from shared.accounts.throttle import SignInThrottle
from shared.core.tunables import PAGE_LIMIT_DEFAULT, TOKEN_DAYS

router = APIRouter(prefix="/auth", tags=["auth"])


async def sign_in_throttle(request: Request) -> SignInThrottle:
    throttle: SignInThrottle = request.app.state.sign_in_throttle
    return throttle


Throttle = Annotated[SignInThrottle, Depends(sign_in_throttle)]


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else "unknown"


def _admit(request: Request, response: Response, signed_in: SignedIn) -> SignedInOut:
    response.set_cookie(
        SESSION_COOKIE,
        signed_in.token,
        max_age=TOKEN_DAYS * 24 * 3600,
        httponly=True,
        samesite="lax",
        secure=request.scope["scheme"] == "https",
        path="/",
    )
    response.headers["cache-control"] = "no-store"
    return SignedInOut(access_token=signed_in.token, user=UserOut.of(signed_in.user))


@router.post("/sign-in")
async def sign_in(
    body: SignInRequest,
    request: Request,
    response: Response,
    session: SessionDep,
    throttle: Throttle,
) -> SignedInOut:
    """Begin a session. Ten attempts a minute for an address, and for an account."""
    await throttle.check(address=_address(request), account=body.email)
    agent = request.headers.get("user-agent", "")
    return _admit(
        request,
        response,
        await service.sign_in(session, body.email, body.password, user_agent=agent),
    )


@router.post("/sign-in-link")
async def sign_in_link(
    body: SignInLinkRequest,
    request: Request,
    response: Response,
    session: SessionDep,
    throttle: Throttle,
) -> SignedInOut:
    """Begin a session by a one-time link, which is used up."""
    await throttle.check(address=_address(request))
    agent = request.headers.get("user-agent", "")
    return _admit(
        request, response, await service.sign_in_by_link(session, body.token, user_agent=agent)
    )


@router.post("/sign-out", status_code=204)
async def sign_out(actor: CurrentActor, session: SessionDep, response: Response) -> None:
    """End this session, at once."""
    await service.sign_out(session, actor)
    response.delete_cookie(SESSION_COOKIE, path="/")


@router.get("/me")
async def me(actor: CurrentActor, session: SessionDep) -> MeOut:
    """Who is asking."""
    return MeOut.of(
        await session.get_one(User, actor.user_id),
        await repository.get_workspace(session, actor.workspace_id),
        actor.session_id,
    )


@router.put("/password", status_code=204)
async def change_password(body: PasswordChange, actor: CurrentActor, session: SessionDep) -> None:
    """Set another password; the other sessions end."""
    await service.change_password(
        session, actor, current=body.current_password, new=body.new_password
    )


@router.get("/sessions")
async def list_sessions(
    actor: CurrentActor,
    session: SessionDep,
    cursor: Cursor = None,
    limit: Limit = PAGE_LIMIT_DEFAULT,
) -> SessionList:
    """Your living sessions, newest first."""
    before = None if cursor is None else decode_cursor(cursor, datetime.fromisoformat, UUID)
    rows = await repository.list_sessions(session, actor.user_id, before=before, limit=limit + 1)
    last = rows[limit - 1] if len(rows) > limit else None
    return SessionList(
        items=[SessionOut.of(row, actor.session_id) for row in rows[:limit]],
        next_cursor=None if last is None else encode_cursor(last.created_at.isoformat(), last.id),
    )


@router.delete("/sessions", status_code=204)
async def end_other_sessions(actor: CurrentActor, session: SessionDep) -> None:
    """End your other sessions, at once."""
    await service.end_other_sessions(session, actor)


@router.delete("/sessions/{session_id}", status_code=204)
async def end_session(session_id: UUID, actor: CurrentActor, session: SessionDep) -> None:
    """End one of your sessions, at once."""
    await service.end_session(session, actor, session_id)
