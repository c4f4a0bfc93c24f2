import asyncio

import httpx2
import pytest
import typer
from typer.testing import CliRunner

from ops.commands.create_user import PasswordCommand, create_api_key, create_user, sign_in_link
from shared.core.db import Database
from shared.core.errors import PageturnError
from tests.factories.world import World

cli = typer.Typer()
cli.command("create-user", cls=PasswordCommand)(create_user)
cli.command("create-api-key")(create_api_key)
cli.command("sign-in-link")(sign_in_link)

Client = httpx2.AsyncClient


async def run(*arguments: str, typed: str = "") -> str:
    """Run a command; what it printed. Its error is raised."""
    result = await asyncio.to_thread(CliRunner().invoke, cli, arguments, typed)
    if isinstance(result.exception, PageturnError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


async def sign_in(client: Client, email: str, password: str) -> dict[str, str]:
    answer = await client.post("/v1/auth/sign-in", json={"email": email, "password": password})
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {answer.json()['accessToken']}"}


@pytest.mark.parametrize("piped", [True, False])
async def test_an_account_with_roles_in_spaces_signs_in(
    client: Client, world: World, piped: bool
) -> None:
    password = "a long password"
    await run(
        "create-user",
        "ada@example.org",
        "--role",
        "admin",
        "--space",
        "wiki:writer",
        "--space",
        "Priv:reader",
        "--password",
        *([] if piped else [password]),
        typed=f"{password}\n",
    )
    headers = await sign_in(client, "ada@example.org", password)
    me = (await client.get("/v1/auth/me", headers=headers)).json()
    assert me["user"]["role"] == "admin"
    spaces = (await client.get("/v1/spaces", headers=headers)).json()["items"]
    assert {space["slug"]: space["role"] for space in spaces} == {
        "wiki": "writer",
        "priv": "reader",
    }


async def test_without_a_password_a_link_signs_in_once(client: Client, world: World) -> None:
    printed = await run("create-user", "ada@example.org", "--name", "Ada Lovelace")
    token = printed.partition("/sign-in?token=")[2].strip()
    answer = await client.post("/v1/auth/sign-in-link", json={"token": token})
    assert answer.json()["user"]["name"] == "Ada Lovelace"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ada@example.org", "--space", "Nowhere:writer"), "The spaces are: Priv, Read, Wiki"),
        (("ada@example.org", "--space", "Wiki:owner"), "write NAME:admin"),
        (("ada@example.org", "--space", "Wiki"), "write NAME:admin"),
        (("WRITER@example.org",), "an account with this email"),
        (("ada", "--space", "Wiki:writer"), "not an email"),
        (("ada@example.org", "--password", "short"), "at least 8"),
        (("ada@example.org", "--password", "--space", "Wiki:writer"), "at least 8"),
    ],
)
async def test_what_cannot_be_made_is_one_clear_line_and_leaves_nothing(
    client: Client, world: World, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(PageturnError, match=message):
        await run("create-user", *arguments)
    await run("create-user", "ada@example.org", "--space", "Wiki:writer")


async def test_without_a_workspace_the_command_says_what_to_do(database: Database) -> None:
    with pytest.raises(PageturnError, match="start Pageturn once"):
        await run("create-user", "ada@example.org")


async def test_an_api_key_has_the_rights_of_its_person(client: Client, world: World) -> None:
    key = (await run("create-api-key", "writer@example.org", "--name", "script")).strip()
    headers = {"authorization": f"Bearer {key}"}
    me = (await client.get("/v1/auth/me", headers=headers)).json()
    assert (me["user"]["email"], me["sessionId"]) == ("writer@example.org", None)
    with pytest.raises(PageturnError, match="no such person"):
        await run("create-api-key", "nobody@example.org", "--name", "script")


@pytest.mark.req("WK-01")
async def test_who_cannot_sign_in_any_more_gets_a_link_that_works_once(
    client: Client, world: World
) -> None:
    line = await run("sign-in-link", "owner@example.org")
    token = line.strip().rpartition("token=")[2]
    answer = await client.post("/v1/auth/sign-in-link", json={"token": token})
    assert answer.json()["user"]["email"] == "owner@example.org"
    assert (await client.post("/v1/auth/sign-in-link", json={"token": token})).status_code == 401
    with pytest.raises(PageturnError, match="no account"):
        await run("sign-in-link", "nobody@example.org")
