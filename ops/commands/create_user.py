"""`pageturn create-user`, `sign-in-link` and `create-api-key`: accounts made on the machine."""

import asyncio
import sys
from collections.abc import Sequence
from itertools import zip_longest
from typing import Annotated, Any
from uuid import UUID

import typer
from sqlalchemy.ext.asyncio import AsyncSession
from typer.core import TyperCommand

from ops.commands._context import command_context
from ops.errors import OpsError
from shared.accounts import people, repository, spaces
from shared.accounts.models import Role, SpaceRole
from shared.core.settings import Settings


class UserRefusedError(OpsError):
    """The account cannot be made."""

    code = "create_user"


class PasswordCommand(TyperCommand):
    """Lets `--password` stand without a value, which then is empty."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spelled: list[str] = []
        for argument, following in zip_longest(args, args[1:], fillvalue="--"):
            spelled.append(argument)
            if argument == "--password" and following.startswith("--"):
                spelled.append("")
        return super().parse_args(ctx, spelled)


def create_user(
    email: Annotated[str, typer.Argument(help="the account's email")],
    role: Annotated[Role, typer.Option(help="the role in the workspace")] = Role.MEMBER,
    space: Annotated[
        list[str] | None,
        typer.Option(help="NAME:admin, NAME:writer or NAME:reader; may be repeated"),
    ] = None,
    password: Annotated[
        str | None,
        typer.Option(
            help="asked for, or read from a pipe, when no value follows; without the option "
            "a one-time sign-in link is printed",
            envvar="PAGETURN_USER_PASSWORD",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="the person's name")] = None,
) -> None:
    """Make an account, with roles in spaces that exist."""
    wanted = [_space_role(text) for text in space or []]
    if password == "":
        password = _ask_password()
    link = asyncio.run(_create(email, role, wanted, password, name))
    typer.echo(f"{email} is {role.value} of the workspace.")
    for space_name, space_role in wanted:
        typer.echo(f"{email} is {space_role.value} in {space_name}.")
    if link is not None:
        typer.echo(f"Sign in once, within a day: {link}")


def _ask_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\r\n")


def _space_role(text: str) -> tuple[str, SpaceRole]:
    """ "NAME:role", the name itself free to hold colons."""
    name, colon, role = text.rpartition(":")
    if not colon or not name.strip() or role not in list(SpaceRole):
        raise UserRefusedError(
            f"{text!r} does not name a space and a role: write NAME:admin, NAME:writer "
            "or NAME:reader."
        )
    return name.strip(), SpaceRole(role)


async def _create(
    email: str,
    role: Role,
    wanted: Sequence[tuple[str, SpaceRole]],
    password: str | None,
    name: str | None,
) -> str | None:
    async with command_context() as context, context.database.session() as session:
        workspace = await repository.first_workspace(session)
        if workspace is None:
            raise UserRefusedError("There is no workspace yet: start Pageturn once.")
        roles = await _resolve(session, workspace.id, wanted)
        user = await people.create_user(
            session, workspace.id, email=email, name=name, role=role, password=password
        )
        for space_id, space_role in roles.items():
            await spaces.add_first_role(session, space_id, user.id, space_role)
        if password is not None:
            return None
        return _address(context.settings, await people.create_link(session, user.id))


async def _resolve(
    session: AsyncSession, workspace_id: UUID, wanted: Sequence[tuple[str, SpaceRole]]
) -> dict[UUID, SpaceRole]:
    """The spaces meant, by name or slug. Raises UserRefusedError with the names there are."""
    known = await spaces.all_spaces(session, workspace_id)
    by_name = {space.name.lower(): space.id for space in reversed(known)}
    by_name |= {space.slug: space.id for space in known}
    roles = {}
    for name, role in wanted:
        space_id = by_name.get(name.lower())
        if space_id is None:
            names = ", ".join(space.name for space in known) or "none"
            raise UserRefusedError(f"There is no space {name!r}. The spaces are: {names}.")
        roles[space_id] = role
    return roles


def sign_in_link(
    email: Annotated[str, typer.Argument(help="whose link it is")],
) -> None:
    """Make a one-time sign-in link, for somebody who cannot sign in any more."""
    typer.echo(f"Sign in once, within a day: {asyncio.run(_make_link(email))}")


async def _make_link(email: str) -> str:
    async with command_context() as context, context.database.session() as session:
        user = await repository.find_user(session, email.strip())
        if user is None:
            raise UserRefusedError("There is no account with this email.")
        return _address(context.settings, await people.create_link(session, user.id))


def _address(settings: Settings, token: str) -> str:
    return f"http://{settings.host}:{settings.port}/sign-in?token={token}"


def create_api_key(
    email: Annotated[str, typer.Argument(help="whose key it is: it has this person's rights")],
    name: Annotated[str, typer.Option(help="what the key is for")],
) -> None:
    """Make an API key for programs, and print it this once."""
    typer.echo(asyncio.run(_create_key(email, name)))


async def _create_key(email: str, name: str) -> str:
    async with command_context() as context, context.database.session() as session:
        return await people.create_api_key(session, email, name)
