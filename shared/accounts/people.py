"""Making people, their sign-in links and their API keys."""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import repository
from shared.accounts.errors import EmailTakenError, InvalidEmailError, UserNotFoundError
from shared.accounts.models import ApiKey, Role, SignInLink, User
from shared.accounts.passwords import hash_password
from shared.accounts.tokens import API_KEY_PREFIX, hash_secret, new_secret
from shared.core.tunables import MAX_EMAIL_CHARS, MAX_NAME_CHARS, SIGN_IN_LINK_HOURS

_EMAIL = re.compile(r"[^\s@<>\x00-\x1f\ud800-\udfff]+@[^\s@<>\x00-\x1f\ud800-\udfff]+")


def clean_email(email: str) -> str:
    """Raises InvalidEmailError. Only a message could prove more about an address."""
    email = email.strip()
    if len(email) > MAX_EMAIL_CHARS or _EMAIL.fullmatch(email) is None:
        raise InvalidEmailError
    return email


async def create_user(
    session: AsyncSession,
    workspace_id: UUID,
    *,
    email: str,
    name: str | None = None,
    role: Role = Role.MEMBER,
    password: str | None = None,
) -> User:
    """Raises InvalidEmailError, WeakPasswordError, EmailTakenError."""
    email = clean_email(email)
    user = User(
        workspace_id=workspace_id,
        email=email,
        name=(name or email.partition("@")[0])[:MAX_NAME_CHARS],
        role=role.value,
        password_hash=None if password is None else await hash_password(password),
    )
    try:
        async with session.begin_nested():
            session.add(user)
    except IntegrityError as error:
        raise EmailTakenError from error
    return user


async def create_link(session: AsyncSession, user_id: UUID) -> str:
    """A one-time sign-in link's token, valid for a day; only its hash is kept."""
    token = new_secret()
    session.add(
        SignInLink(
            user_id=user_id,
            token_hash=hash_secret(token),
            expires_at=datetime.now(UTC) + timedelta(hours=SIGN_IN_LINK_HOURS),
        )
    )
    await session.flush()
    return token


async def create_api_key(session: AsyncSession, email: str, name: str) -> str:
    """An API key for a person, shown this once. Raises UserNotFoundError."""
    user = await repository.find_user(session, email.strip())
    if user is None or user.deactivated_at is not None:
        raise UserNotFoundError
    secret = API_KEY_PREFIX + new_secret()
    session.add(
        ApiKey(user_id=user.id, name=name[:MAX_NAME_CHARS], secret_hash=hash_secret(secret))
    )
    await session.flush()
    return secret
