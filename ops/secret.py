"""APP_SECRET and those before it: from the environment, or made and kept in the data folder."""

import os
import secrets
from pathlib import Path

from pydantic import SecretStr

from ops.errors import HomeError, OpsError
from ops.home import Home, write_private
from shared.core.settings import Settings
from shared.core.tunables import MIN_SECRET_BYTES


def with_secrets(settings: Settings, home: Home) -> Settings:
    """These settings with the secret, and with those before it. Raises OpsError."""
    secret, named = app_secret(settings, home), settings.app_secret_previous
    kept = None if settings.app_secret is not None else previous_secret(home)
    previous = ",".join(filter(None, (named.get_secret_value() if named else None, kept)))
    found = {
        "app_secret": SecretStr(secret),
        "app_secret_previous": SecretStr(previous) if previous else None,
    }
    return settings.model_copy(update=found)


def app_secret(settings: Settings, home: Home) -> str:
    """At least 32 bytes. Raises OpsError when what there is, is shorter or unreadable."""
    if settings.app_secret is not None:
        return _long_enough(settings.app_secret.get_secret_value(), "APP_SECRET")
    kept = _read(home.secret)
    return _make(home) if kept is None else _long_enough(kept, str(home.secret))


def previous_secret(home: Home) -> str | None:
    """What the folder's secret was before; None when it is not being changed."""
    kept = _read(home.previous_secret)
    return None if kept == _read(home.secret) else kept


def replace_secret(home: Home) -> None:
    """Make a new secret and keep the present one beside it. Raises OpsError."""
    old = _read(home.secret)
    if old is None or "," in old:
        raise OpsError(f"{home.secret} cannot be kept beside a new one: it holds a comma")
    # In this order: whatever ends us in between, no secret that is in use is gone.
    write_private(home.previous_secret, old + os.linesep)
    _make(home)


def forget_previous(home: Home) -> None:
    """Leave the folder with its present secret alone."""
    home.previous_secret.unlink(missing_ok=True)


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeError(f"{path} cannot be read: {error.strerror}") from error


def _make(home: Home) -> str:
    secret = secrets.token_urlsafe(48)
    write_private(home.secret, secret + os.linesep)
    return secret


def _long_enough(secret: str, source: str) -> str:
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise OpsError(f"{source} must hold at least {MIN_SECRET_BYTES} bytes")
    return secret
