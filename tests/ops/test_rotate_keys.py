"""`pageturn rotate-keys`: another APP_SECRET, and nothing that was readable is lost on the way."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import httpx2
import psycopg
import pytest
import typer
from sqlalchemy import func, select, text
from typer.testing import CliRunner

from ops.commands.rotate_keys import rotate_keys
from ops.home import Home, open_home, write_private
from shared.core.db import Database
from shared.core.errors import PageturnError
from shared.core.ids import new_id
from shared.core.secrets import SecretBox
from shared.core.settings import get_settings
from shared.providers.connections import Purpose, bound_to
from shared.providers.models import ProviderCredential
from shared.providers.rotation import Resealed, seal_anew
from tests.factories.world import World
from tests.ops.running import Running
from tests.ops.test_backup import pageturn

OLD, NEW, LOST = (word * 8 for word in ("old-", "new-", "lost"))
CHAT, EMBEDDINGS = b"sk-chat", b"sk-embeddings"

cli = typer.Typer()
cli.command("rotate-keys")(rotate_keys)


def box(*secrets: str) -> SecretBox:
    return SecretBox(*(secret.encode() for secret in secrets))


@pytest.fixture
def environment() -> Iterator[Callable[..., None]]:
    """Sets variables, and unsets those given as None, for whoever reads the settings next.
    Afterwards all is as it was: commands change this process's environment, too."""
    before = dict(os.environ)

    def change(**variables: str | None) -> None:
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        get_settings.cache_clear()

    yield change
    os.environ.clear()
    os.environ.update(before)
    get_settings.cache_clear()


class Folder:
    """A data folder with the secret OLD, for a database that others run."""

    def __init__(self, root: Path, environment: Callable[..., None]) -> None:
        self.home = open_home(root)
        self._environment = environment
        write_private(self.home.secret, OLD)

    async def rotate(self, *arguments: str) -> str:
        # What a command exports stays in this process's environment: every call starts anew.
        self._environment(
            PAGETURN_HOME=str(self.home.root), APP_SECRET=None, APP_SECRET_PREVIOUS=None
        )
        return await rotate(*arguments)

    @property
    def secret(self) -> str:
        return self.home.secret.read_text().strip()


@pytest.fixture
def folder(tmp_path: Path, environment: Callable[..., None]) -> Folder:
    return Folder(tmp_path / "home", environment)


async def rotate(*arguments: str) -> str:
    """Run the command; what it printed. Its error is raised."""
    result = await asyncio.to_thread(CliRunner().invoke, cli, arguments)
    if isinstance(result.exception, PageturnError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


async def store(
    database: Database, workspace_id: UUID, driver: str, seals: SecretBox, *purposes: Purpose
) -> UUID:
    """One driver's keys, for chat, embeddings or both."""
    row = ProviderCredential(id=new_id(), workspace_id=workspace_id, driver=driver)
    if "chat" in purposes:
        row.api_key_enc = seals.seal(CHAT, bound_to=bound_to(workspace_id, row.id, "chat"))
    if "embeddings" in purposes:
        place = bound_to(workspace_id, row.id, "embeddings")
        row.embedding_api_key_enc = seals.seal(EMBEDDINGS, bound_to=place)
    async with database.session() as session:
        session.add(row)
    return row.id


async def load(database: Database, row_id: UUID) -> ProviderCredential:
    async with database.session() as session:
        return await session.get_one(ProviderCredential, row_id)


async def opened(database: Database, row_id: UUID, with_box: SecretBox) -> list[bytes]:
    """The row's keys, in the clear. Raises UnreadableSecretError."""
    row = await load(database, row_id)
    places = {"chat": row.api_key_enc, "embeddings": row.embedding_api_key_enc}
    return [
        with_box.open(sealed, bound_to=bound_to(row.workspace_id, row_id, purpose))
        for purpose, sealed in places.items()
        if sealed is not None
    ]


async def test_a_new_secret_seals_every_key_and_the_old_one_is_kept(
    database: Database, world: World, folder: Folder
) -> None:
    old = box(OLD)
    both = await store(database, world.workspace_id, "openai", old, "chat", "embeddings")
    one = await store(database, world.other_workspace_id, "openai", old, "chat")
    await store(database, world.workspace_id, "ollama", old)
    printed = await folder.rotate()
    assert "3 keys sealed anew, 0 unreadable." in printed
    assert "--retire" in printed
    assert folder.secret != OLD
    assert len(folder.secret) >= 32
    assert await opened(database, both, box(folder.secret)) == [CHAT, EMBEDDINGS]
    assert await opened(database, one, box(folder.secret)) == [CHAT]
    assert folder.home.previous_secret.read_text().strip() == OLD
    for path in (folder.home.secret, folder.home.previous_secret):
        assert path.stat().st_mode & 0o777 == 0o600
    assert OLD not in printed
    assert folder.secret not in printed


async def test_a_key_that_no_secret_opens_is_counted_and_left_as_it_is(
    database: Database, world: World, folder: Folder
) -> None:
    lost = await store(database, world.workspace_id, "openai", box(LOST), "chat", "embeddings")
    moved = await store(database, world.workspace_id, "gemini", box(OLD), "chat")
    async with database.session() as session:
        row = await session.get_one(ProviderCredential, moved)
        row.embedding_api_key_enc = row.api_key_enc
    before = await load(database, lost)
    printed = await folder.rotate()
    assert "1 keys sealed anew, 3 unreadable." in printed
    assert "enter them again" in printed
    after = await load(database, lost)
    assert (after.api_key_enc, after.embedding_api_key_enc) == (
        before.api_key_enc,
        before.embedding_api_key_enc,
    )


async def test_a_change_goes_on_until_its_secret_is_retired(
    database: Database, world: World, folder: Folder
) -> None:
    await folder.rotate()
    new = folder.secret
    late = await store(database, world.workspace_id, "openai", box(OLD), "chat")
    assert "1 keys sealed anew" in await folder.rotate()
    assert folder.secret == new
    assert await opened(database, late, box(new)) == [CHAT]
    later = await store(database, world.workspace_id, "gemini", box(OLD), "chat")
    printed = await folder.rotate("--retire")
    assert "1 keys sealed anew" in printed
    assert "forgotten" in printed
    assert await opened(database, later, box(new)) == [CHAT]
    assert not folder.home.previous_secret.exists()
    assert "no previous secret" in await folder.rotate("--retire")
    assert folder.secret == new
    await folder.rotate()
    assert folder.secret != new


async def test_a_change_that_was_cut_off_at_its_beginning_begins_again(
    database: Database, world: World, folder: Folder
) -> None:
    row = await store(database, world.workspace_id, "openai", box(OLD), "chat")
    write_private(folder.home.previous_secret, OLD)  # and no new secret was written
    assert "1 keys sealed anew" in await folder.rotate()
    assert folder.secret != OLD
    assert await opened(database, row, box(folder.secret)) == [CHAT]


async def test_a_secret_that_could_not_be_listed_is_not_replaced(
    database: Database, folder: Folder
) -> None:
    write_private(folder.home.secret, OLD + "," + OLD)
    with pytest.raises(PageturnError, match="comma"):
        await folder.rotate()
    assert folder.secret == OLD + "," + OLD


async def test_a_key_that_is_entered_meanwhile_is_kept(database: Database, world: World) -> None:
    row_id = await store(database, world.workspace_id, "openai", box(OLD), "chat")
    place = bound_to(world.workspace_id, row_id, "chat")

    async def reseal() -> Resealed:
        async with database.session() as session:
            return await seal_anew(session, box(NEW, OLD))

    async with database.session() as session:
        row = await session.get_one(ProviderCredential, row_id)
        row.api_key_enc = box(OLD).seal(b"sk-entered", bound_to=place)
        await session.flush()
        resealing = asyncio.create_task(reseal())
        async with asyncio.timeout(10):
            while not await waits_for_a_lock(database):
                assert not resealing.done()
    assert await resealing == Resealed(sealed=1, unreadable=0)
    assert await opened(database, row_id, box(NEW)) == [b"sk-entered"]


async def waits_for_a_lock(database: Database) -> bool:
    waiting = text(
        "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    async with database.session() as session:
        return bool(await session.scalar(select(func.count()).select_from(waiting)))


async def test_with_a_secret_from_the_environment_the_steps_are_told_and_nothing_changes(
    database: Database, world: World, folder: Folder, environment: Callable[..., None]
) -> None:
    row = await store(database, world.workspace_id, "openai", box(OLD), "chat")
    environment(APP_SECRET=OLD, PAGETURN_HOME=str(folder.home.root))
    printed = await rotate()
    assert [line.strip()[:2] for line in printed.splitlines()[1:5]] == ["1.", "2.", "3.", "4."]
    assert await opened(database, row, box(OLD)) == [CHAT]
    assert not folder.home.previous_secret.exists()


@pytest.mark.parametrize("arguments", [(), ("--retire",)])
async def test_with_previous_secrets_from_the_environment_what_they_open_is_sealed_anew(
    database: Database,
    world: World,
    folder: Folder,
    environment: Callable[..., None],
    arguments: tuple[str, ...],
) -> None:
    rows = [
        await store(database, world.workspace_id, driver, box(secret), "chat")
        for driver, secret in (("openai", OLD), ("gemini", LOST), ("ollama", NEW))
    ]
    environment(
        APP_SECRET=NEW, APP_SECRET_PREVIOUS=f"{LOST},{OLD}", PAGETURN_HOME=str(folder.home.root)
    )
    printed = await rotate(*arguments)
    assert "2 keys sealed anew, 0 unreadable." in printed
    assert "remove APP_SECRET_PREVIOUS" in printed
    for row in rows:
        assert await opened(database, row, box(NEW)) == [CHAT]
    assert folder.secret == OLD  # the folder's is not the environment's to change


async def test_a_sign_in_outlives_the_change_and_ends_when_the_old_secret_is_retired(
    client: httpx2.AsyncClient, world: World, environment: Callable[..., None]
) -> None:
    headers = world.headers("owner")

    async def status() -> int:
        return (await client.get("/v1/auth/me", headers=headers)).status_code

    signed_with = os.environ["APP_SECRET"]
    environment(APP_SECRET=NEW, APP_SECRET_PREVIOUS=f"{LOST},{signed_with}")
    assert await status() == 200
    environment(APP_SECRET_PREVIOUS=LOST)
    assert await status() == 401


class Installation(Running):
    """The stand-in Pageturn, with a key in its database."""

    def store_key(self) -> None:
        secret = self.home.secret.read_text().strip()
        row_id, workspace_id = new_id(), new_id()
        sealed = box(secret).seal(CHAT, bound_to=bound_to(workspace_id, row_id, "chat"))
        with self.connect() as connection:
            connection.execute("INSERT INTO workspaces (id, name) VALUES (%s, 'W')", [workspace_id])
            connection.execute(
                "INSERT INTO ai_provider_credentials (id, workspace_id, driver, api_key_enc) "
                "VALUES (%s, %s, 'openai', %s)",
                [row_id, workspace_id, sealed],
            )

    def key(self, secret: str) -> bytes:
        with self.connect() as connection:
            found = connection.execute(
                "SELECT id, workspace_id, api_key_enc FROM ai_provider_credentials"
            ).fetchone()
        assert found is not None
        row_id, workspace_id, sealed = found
        return box(secret).open(sealed, bound_to=bound_to(workspace_id, row_id, "chat"))

    def connect(self) -> "psycopg.Connection[tuple[UUID, UUID, bytes]]":
        state = self.state()
        assert state is not None
        return psycopg.connect(state.database_url.replace("+psycopg", ""))

    def rotate(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return pageturn(self, "rotate-keys", *arguments)


@pytest.mark.slow
def test_while_pageturn_runs_nothing_is_sealed_with_a_secret_that_it_does_not_hold(
    tmp_path: Path,
) -> None:
    running = Installation(tmp_path)
    process = running.serve()
    running.store_key()
    old = running.home.secret.read_text().strip()
    first, again, early = running.rotate(), running.rotate(), running.rotate("--retire")
    assert (first.returncode, again.returncode, early.returncode) == (0, 1, 1), first.stderr
    assert all("restart it" in done.stdout for done in (first, again, early))
    assert running.key(old) == CHAT
    new = running.home.secret.read_text().strip()
    assert new != old
    stop(process)

    backed_up = pageturn(running, "backup", str(tmp_path / "file"))
    assert backed_up.returncode == 0, backed_up.stderr
    process = running.serve()
    environment = Path(f"/proc/{running.pid('api')}/environ").read_bytes().split(b"\0")
    assert f"APP_SECRET={new}".encode() in environment
    assert f"APP_SECRET_PREVIOUS={old}".encode() in environment
    assert b"PAGETURN_PRIVATE_MODELS=true" in environment
    assert "1 keys sealed anew, 0 unreadable." in running.rotate().stdout
    assert running.key(new) == CHAT
    assert "forgotten" in running.rotate("--retire").stdout
    assert not running.home.previous_secret.exists()
    stop(process)

    restored = Installation(tmp_path / "second")
    restored.folder.mkdir()
    assert pageturn(restored, "restore", str(tmp_path / "file")).returncode == 0
    homes: list[Home] = [running.home, restored.home]
    assert [home.secret.read_text().strip() for home in homes] == [new, new]
    assert restored.home.previous_secret.read_text().strip() == old
    assert "1 keys sealed anew, 0 unreadable." in restored.rotate("--retire").stdout


def stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert errors == ""
