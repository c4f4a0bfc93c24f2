"""A real handbook, imported and asked about, without a model. Needs PAGETURN_CORPORA."""

import os
from pathlib import Path

import httpx2
import pytest

from tests.fakes.installation import Installation, ask
from tests.fakes.ui_message import UiMessage
from tests.shared.search.handbook_questions import QUESTIONS

CORPORA = os.environ.get("PAGETURN_CORPORA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPORA, reason="PAGETURN_CORPORA is not set: the handbook is there"),
]


@pytest.fixture(scope="module")
def handbook(installation: Installation) -> Installation:
    assert CORPORA is not None
    imported = installation.run(
        "import", str(Path(CORPORA) / "handbook"), "--space", "Handbook", "--wait", timeout=900
    )
    print(imported.stdout[-2000:], imported.stderr[-2000:])  # noqa: T201 - figures of the run
    assert imported.returncode == 0, imported.stderr
    return installation


def cited(page: UiMessage) -> list[str]:
    return [part["title"] for part in page.parts if part["type"] == "source-url"]


def test_every_file_of_the_handbook_is_a_page(handbook: Installation) -> None:
    client = handbook.sign_in()
    space = next(
        s
        for s in client.get("/v1/spaces", params={"limit": 100}).json()["items"]
        if s["name"] == "Handbook"
    )
    settings = client.get("/v1/workspace/ai-settings").json()
    assert settings["indexedPages"] == settings["totalPages"] >= 246
    tree = client.get(f"/v1/spaces/{space['id']}/tree", params={"limit": 100}).json()["items"]
    assert tree


def test_offline_answers_cite_the_expected_pages(handbook: Installation) -> None:
    """The expected pages were named before the search was tuned."""
    client = handbook.sign_in()
    right = []
    for question in QUESTIONS:
        titles = cited(ask(client, question.text))
        hit = bool(question.pages & set(titles))
        right.append(hit)
        print(f"{'yes' if hit else 'NO '} {question.text} → {titles}")  # noqa: T201
    print(f"cited: {sum(right)} of {len(right)}")  # noqa: T201
    assert sum(right) >= 8


@pytest.mark.req("TG-01")
def test_nobody_without_the_right_is_quoted_a_page(handbook: Installation) -> None:
    made = handbook.run(
        "create-user", "nobody@example.org", "--role", "member", "--password", "not-a-real-password"
    )
    assert made.returncode == 0, made.stderr
    client = httpx2.Client(base_url=handbook.url, timeout=30)
    token = client.post(
        "/v1/auth/sign-in",
        json={"email": "nobody@example.org", "password": "not-a-real-password"},
    ).json()["accessToken"]
    client.headers["authorization"] = f"Bearer {token}"
    page = ask(client, "How do I get a PIV card?")
    assert cited(page) == []
    text = " ".join(part["text"] for part in page.parts if part["type"] == "text")
    assert "found no page" in text
