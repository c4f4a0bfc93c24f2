"""Access tokens: JSON Web Tokens of one algorithm and one type, and secrets kept as hashes."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

import jwt
from jwt.types import Options

from shared.core.errors import UnauthenticatedError
from shared.core.secrets import derive_key

_ALGORITHM = "HS256"
_REQUIRED = ["exp", "iat", "sub", "sid", "typ", "ws"]
Kind = Literal["access", "agent"]
API_KEY_PREFIX = "pt_"


@dataclass(frozen=True, slots=True)
class Claims:
    """Who a token speaks for, and by which session. The database says whether it still may."""

    user_id: UUID
    session_id: UUID
    workspace_id: UUID


def token_key(app_secret: bytes) -> bytes:
    """The signing key: 32 bytes of its own, derived from the application secret."""
    return derive_key(app_secret, "access-token")


def encode_token(
    key: bytes,
    claims: Claims,
    *,
    issued_at: datetime,
    expires_at: datetime,
    kind: Kind = "access",
) -> str:
    """A signed token: a person's own, or one that the agent acts by for a short while."""
    payload = {
        "typ": kind,
        "sub": str(claims.user_id),
        "sid": str(claims.session_id),
        "ws": str(claims.workspace_id),
        "iat": issued_at,
        "exp": expires_at,
    }
    return jwt.encode(payload, key, algorithm=_ALGORITHM)


def decode_token(keys: Iterable[bytes], token: str, *, kind: Kind = "access") -> Claims:
    """Raises UnauthenticatedError for anything but a valid, unexpired token of this kind that
    one of the keys signed."""
    for key in keys:
        try:
            return _decode(key, token, kind)
        except jwt.InvalidSignatureError:
            continue
        except (jwt.InvalidTokenError, ValueError, AttributeError, TypeError) as error:
            raise UnauthenticatedError from error
    raise UnauthenticatedError


def _decode(key: bytes, token: str, kind: Kind) -> Claims:
    # Who issued it may have another clock: a token from the future is as good as its session.
    options: Options = {"require": _REQUIRED, "verify_iat": False}
    payload = jwt.decode(token, key, algorithms=[_ALGORITHM], options=options)
    if payload["typ"] != kind:
        raise UnauthenticatedError
    return Claims(
        user_id=UUID(payload["sub"]),
        session_id=UUID(payload["sid"]),
        workspace_id=UUID(payload["ws"]),
    )


def new_secret() -> str:
    """A random secret of 256 bits, safe in an address."""
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> bytes:
    """What is stored of a random secret. It has no need of a slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
