"""Signing in and out, and the one way in which a request proves who it speaks for."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import repository
from shared.accounts.actor import Actor
from shared.accounts.errors import (
    DeadLinkError,
    NoSessionError,
    SessionNotFoundError,
    WrongCredentialsError,
)
from shared.accounts.models import Role, User, UserSession
from shared.accounts.passwords import hash_password, verify_password
from shared.accounts.tokens import (
    API_KEY_PREFIX,
    Claims,
    decode_token,
    encode_token,
    hash_secret,
    token_key,
)
from shared.core.errors import UnauthenticatedError
from shared.core.ids import new_id
from shared.core.settings import get_settings
from shared.core.tunables import (
    MAX_USER_AGENT_CHARS,
    SESSION_DAYS,
    SESSION_TOUCH_SECONDS,
    TOKEN_DAYS,
)

_SESSION_LIFE = timedelta(days=SESSION_DAYS)
_TOUCH_EVERY = timedelta(seconds=SESSION_TOUCH_SECONDS)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A new session's access token and its person."""

    token: str
    user: User


def _keys() -> list[bytes]:
    """The key that signs, then those whose tokens are still good."""
    return [token_key(secret) for secret in get_settings().require_app_secrets()]


async def authenticate(session: AsyncSession, token: str) -> Actor:
    """Who a token speaks for, now. Every request and every tool call passes here or asks
    the same of the database.

    An API key gives an actor without a session. Raises UnauthenticatedError.
    """
    if token.startswith(API_KEY_PREFIX):
        user = await repository.user_of_key(session, hash_secret(token))
        if user is None:
            raise UnauthenticatedError
        return Actor(user.workspace_id, user.id, Role(user.role))
    live, user = await _living(session, decode_token(_keys(), token))
    if live.last_seen_at < datetime.now(UTC) - _TOUCH_EVERY:
        await repository.touch_session(
            session, live.id, older_than=_TOUCH_EVERY, life=_SESSION_LIFE
        )
    return Actor(user.workspace_id, user.id, Role(user.role), session_id=live.id)


async def _living(session: AsyncSession, claims: Claims) -> tuple[UserSession, User]:
    """The session and the person of a token, as they are now. Raises UnauthenticatedError."""
    found = await repository.live_session(session, claims.session_id)
    if found is None:
        raise UnauthenticatedError("Your session has ended.")
    live, user = found
    if (user.id, user.workspace_id) != (claims.user_id, claims.workspace_id):
        raise UnauthenticatedError
    return live, user


async def agent_token(session: AsyncSession, person: Actor, *, seconds: float) -> str:
    """What the agent proves with whom it acts for. It is good for a short while and for
    nothing but tool calls. Raises UnauthenticatedError when the person's session has ended."""
    if person.session_id is None:
        raise UnauthenticatedError
    claims = Claims(person.user_id, person.session_id, person.workspace_id)
    await _living(session, claims)
    now = datetime.now(UTC)
    return encode_token(
        _keys()[0],
        claims,
        issued_at=now,
        expires_at=now + timedelta(seconds=seconds),
        kind="agent",
    )


async def authenticate_agent(session: AsyncSession, token: str) -> Actor:
    """Whom an agent's token speaks for, with the rights of now. Raises UnauthenticatedError."""
    live, user = await _living(session, decode_token(_keys(), token, kind="agent"))
    return Actor(user.workspace_id, user.id, Role(user.role), session_id=live.id)


async def sign_in(
    session: AsyncSession, email: str, password: str, *, user_agent: str = ""
) -> SignedIn:
    """Raises WrongCredentialsError, for an unknown email as for a wrong password."""
    user = await repository.find_user(session, email.strip())
    right = await verify_password(password, None if user is None else user.password_hash)
    if user is None or not right or user.deactivated_at is not None:
        raise WrongCredentialsError
    return await _begin(session, user, user_agent)


async def sign_in_by_link(session: AsyncSession, token: str, *, user_agent: str = "") -> SignedIn:
    """Use a one-time link up. Raises DeadLinkError."""
    user = await repository.use_link(session, hash_secret(token))
    if user is None:
        raise DeadLinkError
    return await _begin(session, user, user_agent)


async def _begin(session: AsyncSession, user: User, user_agent: str) -> SignedIn:
    now = datetime.now(UTC)
    row = UserSession(
        id=new_id(),
        user_id=user.id,
        user_agent=user_agent[:MAX_USER_AGENT_CHARS],
        expires_at=now + _SESSION_LIFE,
    )
    session.add(row)
    await session.flush()
    token = encode_token(
        _keys()[0],
        Claims(user.id, row.id, user.workspace_id),
        issued_at=now,
        expires_at=now + timedelta(days=TOKEN_DAYS),
    )
    return SignedIn(token, user)


async def sign_out(session: AsyncSession, actor: Actor) -> None:
    """End the session that made the request. Raises NoSessionError for an API key."""
    if actor.session_id is None:
        raise NoSessionError
    await repository.end_sessions(session, actor.user_id, only=actor.session_id)


async def end_session(session: AsyncSession, actor: Actor, session_id: UUID) -> None:
    """End one of the actor's own sessions, at once. Raises SessionNotFoundError."""
    if await repository.end_sessions(session, actor.user_id, only=session_id) == 0:
        raise SessionNotFoundError


async def end_other_sessions(session: AsyncSession, actor: Actor) -> int:
    """End the actor's sessions but the one in use. How many have ended."""
    return await repository.end_sessions(session, actor.user_id, spare=actor.session_id)


async def change_password(
    session: AsyncSession, actor: Actor, *, current: str | None, new: str
) -> None:
    """Set a password and end the other sessions. An account without one needs no current one.

    Raises WrongCredentialsError, WeakPasswordError.
    """
    user = await session.get_one(User, actor.user_id)
    if user.password_hash is not None and not await verify_password(
        current or "", user.password_hash
    ):
        raise WrongCredentialsError("The current password is wrong.")
    user.password_hash = await hash_password(new)
    await session.flush()
    await end_other_sessions(session, actor)
