"""The first workspace: its owner, its settings, and spaces with something in them."""

from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import people, repository, spaces
from shared.accounts.actor import Actor
from shared.accounts.models import Role, User, Workspace
from shared.core.db import Database
from shared.core.settings import Settings
from shared.providers.models import AiSettings
from shared.wiki import service
from shared.wiki.document import from_markdown, split_title

_DEFAULT_OWNER = "owner@localhost"
_PAGES = Path(__file__).parent / "getting_started"


async def ensure_workspace(database: Database, settings: Settings) -> str | None:
    """Make the first workspace if there is none. Two at once make one.

    Returns the path of a fresh one-time sign-in link (valid for a day) while no owner has a
    password or a living session; else None. Raises InvalidEmailError, WeakPasswordError for
    the owner named in the settings.
    """
    async with database.session() as session:
        key = func.hashtextextended("pageturn.first-workspace", 0)
        await session.execute(select(func.pg_advisory_xact_lock(key)))
        workspace = await repository.first_workspace(session)
        if workspace is None:
            workspace = await _make(session, settings)
        owner = await _owner_without_a_way_in(session, workspace)
        if owner is None:
            return None
        return f"/sign-in?token={await people.create_link(session, owner.id)}"


async def _make(session: AsyncSession, settings: Settings) -> Workspace:
    workspace = Workspace(name="Pageturn")
    session.add(workspace)
    await session.flush()
    session.add(AiSettings(workspace_id=workspace.id))
    secret = settings.owner_password
    owner = await people.create_user(
        session,
        workspace.id,
        email=settings.owner_email or _DEFAULT_OWNER,
        role=Role.OWNER,
        password=None if secret is None else secret.get_secret_value(),
    )
    await _furnish(session, Actor(workspace.id, owner.id, Role.OWNER))
    return workspace


async def _furnish(session: AsyncSession, owner: Actor) -> None:
    """A space for everything, and one of pages about Pageturn, so that the first question
    has an answer."""
    await spaces.create_space(session, owner, name="General")
    space = await spaces.create_space(
        session, owner, name="Getting started", slug="getting-started"
    )
    for title, content in getting_started():
        await service.create_page(session, owner, space_id=space.id, title=title, content=content)


def getting_started() -> list[tuple[str, object]]:
    """Titles and documents of our own pages, in their order."""
    pages: list[tuple[str, object]] = []
    for path in sorted(_PAGES.glob("*.md")):
        parsed = split_title(from_markdown(path.read_text(encoding="utf-8")))
        assert parsed.title is not None
        pages.append((parsed.title, parsed.doc))
    return pages


async def _owner_without_a_way_in(session: AsyncSession, workspace: Workspace) -> User | None:
    """The first owner, if none can sign in: no password, no living session."""
    owners = await repository.list_owners(session, workspace.id)
    for owner in owners:
        if owner.password_hash is not None:
            return None
        if await repository.list_sessions(session, owner.id, before=None, limit=1):
            return None
    return owners[0] if owners else None
