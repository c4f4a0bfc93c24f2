"""APP_SECRET: given, or made once."""

from pathlib import Path

import pytest

from ops.errors import OpsError
from ops.home import open_home
from ops.secret import app_secret
from shared.core.settings import Settings


def test_it_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    home, settings = open_home(tmp_path / "home"), Settings.model_construct(app_secret=None)
    made = app_secret(settings, home)
    assert len(made.encode()) >= 32
    assert app_secret(settings, home) == made
    assert home.secret.stat().st_mode & 0o777 == 0o600


def test_a_given_one_is_taken_and_nothing_is_kept(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    given = Settings.model_validate({"APP_SECRET": "g" * 32})
    assert app_secret(given, home) == "g" * 32
    assert not home.secret.exists()


def test_a_short_one_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    with pytest.raises(OpsError, match="APP_SECRET must hold at least 32"):
        app_secret(Settings.model_validate({"APP_SECRET": "short"}), home)
    home.secret.write_text("short")
    with pytest.raises(OpsError, match="app_secret must hold at least 32"):
        app_secret(Settings.model_construct(app_secret=None), home)
