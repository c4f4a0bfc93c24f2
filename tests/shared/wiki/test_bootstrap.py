import asyncio

import httpx2
import pytest
from sqlalchemy import func, select

from shared.accounts.models import Space, SpaceMember, User, Workspace
from shared.core.db import Database
from shared.core.settings import Settings
from shared.providers.models import AiSettings
from shared.wiki.bootstrap import ensure_workspace, getting_started
from shared.wiki.document import to_markdown, to_text
from shared.wiki.models import Page, PageHistory, PageIndex

NO_PASSWORD = Settings.model_validate({})
WITH_PASSWORD = Settings.model_validate(
    {"PAGETURN_OWNER_EMAIL": "ada@example.org", "PAGETURN_OWNER_PASSWORD": "a long password"}
)


@pytest.mark.req("WK-06")
async def test_a_fresh_installation_has_an_owner_settings_and_two_spaces(
    database: Database,
) -> None:
    assert await ensure_workspace(database, WITH_PASSWORD) is None
    async with database.session() as session:
        owner = (await session.scalars(select(User))).one()
        assert (owner.email, owner.role) == ("ada@example.org", "owner")
        ai = (await session.scalars(select(AiSettings))).one()
        assert (ai.driver, ai.embedding_driver) == ("offline", "local")
        spaces = (await session.scalars(select(Space).order_by(Space.slug))).all()
        assert [(space.name, space.slug) for space in spaces] == [
            ("General", "general"),
            ("Getting started", "getting-started"),
        ]
        roles = (await session.scalars(select(SpaceMember.role))).all()
        assert roles == ["admin", "admin"]
        pages = (await session.scalars(select(Page).order_by(Page.position))).all()
        assert [page.title for page in pages] == [title for title, _ in getting_started()]
        for table in (PageHistory, PageIndex):
            assert await session.scalar(select(func.count()).select_from(table)) == len(pages)


async def test_two_starts_at_once_make_one_workspace_and_both_links_work(
    database: Database, client: httpx2.AsyncClient
) -> None:
    links = await asyncio.gather(*(ensure_workspace(database, NO_PASSWORD) for _ in range(3)))
    async with database.session() as session:
        assert await session.scalar(select(func.count()).select_from(Workspace)) == 1
        assert await session.scalar(select(func.count()).select_from(User)) == 1
    assert len(set(links)) == 3
    for link in links:
        assert link is not None
        assert link.startswith("/sign-in?token=")
        token = link.removeprefix("/sign-in?token=")
        answer = await client.post("/v1/auth/sign-in-link", json={"token": token})
        assert answer.status_code == 200
        assert answer.json()["user"]["role"] == "owner"


async def test_the_link_is_given_until_the_owner_is_in_and_again_when_locked_out(
    database: Database, client: httpx2.AsyncClient
) -> None:
    assert await ensure_workspace(database, NO_PASSWORD) is not None
    link = await ensure_workspace(database, NO_PASSWORD)
    assert link is not None
    token = link.removeprefix("/sign-in?token=")
    await client.post("/v1/auth/sign-in-link", json={"token": token})
    assert await ensure_workspace(database, NO_PASSWORD) is None
    await client.post("/v1/auth/sign-out")
    link = await ensure_workspace(database, NO_PASSWORD)
    assert link is not None
    token = link.removeprefix("/sign-in?token=")
    await client.post("/v1/auth/sign-in-link", json={"token": token})
    set_ = await client.put("/v1/auth/password", json={"newPassword": "a long password"})
    assert set_.status_code == 204
    await client.post("/v1/auth/sign-out")
    assert await ensure_workspace(database, NO_PASSWORD) is None


def test_our_own_pages_are_whole() -> None:
    pages = getting_started()
    assert 6 <= len(pages) <= 8
    for title, document in pages:
        assert isinstance(document, dict)
        assert len(to_text(document)) > 400, title
        kinds = {block["type"] for block in document["content"]}
        assert "heading" in kinds
        assert "# " not in to_markdown(document).split("\n")[0], "the title is not repeated"
