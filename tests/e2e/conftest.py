"""One installation for the tests that only use it; those that break one make their own."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.fakes.browser import CHROMIUM, FLAGS, Visit, visiting
from tests.fakes.installation import Installation, running
from tests.fakes.sdk_client import SdkClients
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
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def told() -> Iterator[ToldModel]:
    """A model server for which each test says what it answers."""
    with ToldModel() as model:
        yield model


@pytest.fixture(scope="session")
def agent(told: ToldModel) -> Iterator[Installation]:
    """A running installation whose workspace asks the `told` model."""
    # What a person would wait for between two tries, a test does not.
    with running(PAGETURN_PRIVATE_MODELS="true", PAGETURN_MODEL_RETRY_SECONDS="0.01") as started:
        told.serve(started.sign_in())
        yield started


@pytest.fixture(scope="session")
def owner(agent: Installation) -> httpx2.Client:
    return agent.sign_in()


@pytest.fixture(scope="session")
def reader(agent: Installation) -> httpx2.Client:
    """A member who may read the space in which the tests write."""
    return agent.add_person("rita@example.org", "Rita Reader", "General:reader")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with its module: Playwright's loop must not run beside that of other tests."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser, agent: Installation) -> Iterator[Visit]:
    """Opens a page of the installation `agent` in a browser of a person's own."""
    with visiting(browser, agent.url) as visit:
        yield visit


@pytest.fixture(scope="session")
def people(agent: Installation) -> Iterator[httpx2.Client]:
    """One after the other, over and over: a person may only ask so often in a minute."""
    made = [
        agent.add_person(f"{name}@example.org", name, "General:writer") for name in ("ann", "ben")
    ]
    return itertools.cycle([agent.sign_in(), *made])


@pytest.fixture
def person(people: Iterator[httpx2.Client]) -> httpx2.Client:
    return next(people)


@pytest.fixture
def sdk(agent: Installation, person: httpx2.Client) -> Iterator[SdkClients]:
    token = person.headers["authorization"].removeprefix("Bearer ")
    with SdkClients(agent.url, token) as clients:
        yield clients
        assert clients.complaints() == []


@pytest.fixture
def chat(sdk: SdkClients) -> str:
    """The id of the client "a", which the client chose, as any does."""
    return str(sdk.open()["id"])
