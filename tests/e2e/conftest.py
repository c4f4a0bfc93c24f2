"""One installation for the tests that only use it; those that break one make their own."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.installation import Installation


@pytest.fixture
def fresh() -> Iterator[Installation]:
    """An installation that has not been started."""
    folder = Path(tempfile.mkdtemp(prefix="pageturn-e2e-"))
    installation = Installation(folder / "home")
    yield installation
    if installation.process is not None:
        installation.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """A running installation, for all tests of the session."""
    folder = Path(tempfile.mkdtemp(prefix="pageturn-e2e-"))
    running = Installation(folder / "home")
    running.start()
    yield running
    if running.process is not None:
        running.stop()
    shutil.rmtree(folder, ignore_errors=True)
