"""One installation for the tests that only use it; those that break one make their own."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.installation import Installation
from tests.fakes.told_model import ToldModel


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


@pytest.fixture(scope="module")
def told() -> Iterator[ToldModel]:
    """A model server of the module's own, for which each test says what it answers."""
    with ToldModel() as model:
        yield model


@pytest.fixture(scope="module")
def agent(told: ToldModel) -> Iterator[Installation]:
    """A running installation of the module's own, whose workspace asks the `told` model."""
    folder = Path(tempfile.mkdtemp(prefix="pageturn-e2e-"))
    # What a person would wait for between two tries, a test does not.
    extra = {"PAGETURN_PRIVATE_MODELS": "true", "PAGETURN_MODEL_RETRY_SECONDS": "0.01"}
    running = Installation(folder / "home", extra=extra)
    running.start()
    told.serve(running.sign_in())
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)
