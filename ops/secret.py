"""APP_SECRET: from the environment, or made once and kept in the data folder."""

import os
import secrets

from ops.errors import HomeError, OpsError
from ops.home import Home, write_private
from shared.core.settings import Settings

MIN_BYTES = 32


def app_secret(settings: Settings, home: Home) -> str:
    """At least 32 bytes. Raises OpsError when what there is, is shorter or unreadable."""
    if settings.app_secret is not None:
        return _long_enough(settings.app_secret.get_secret_value(), "APP_SECRET")
    try:
        return _long_enough(home.secret.read_text().strip(), str(home.secret))
    except FileNotFoundError:
        return _make(home)
    except OSError as error:
        raise HomeError(f"{home.secret} cannot be read: {error.strerror}") from error


def _make(home: Home) -> str:
    secret = secrets.token_urlsafe(48)
    write_private(home.secret, secret + os.linesep)
    return secret


def _long_enough(secret: str, source: str) -> str:
    if len(secret.encode()) < MIN_BYTES:
        raise OpsError(f"{source} must hold at least {MIN_BYTES} bytes")
    return secret
