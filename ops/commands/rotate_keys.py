"""`pageturn rotate-keys`: another APP_SECRET, without a moment in which something is unreadable."""

import asyncio
from typing import Annotated

import typer

from ops.commands._context import CommandContext, command_context
from ops.home import Home
from ops.locks import home_lock
from ops.secret import forget_previous, previous_secret, replace_secret, with_secrets
from ops.state import runs_with
from shared.core.secrets import SecretBox, key_id
from shared.core.settings import Settings, get_settings
from shared.providers.rotation import seal_anew

_MADE = "There is a new secret in the data folder; the previous one is kept beside it."
_RESTART = (
    "Pageturn still runs with another secret: restart it, then run `pageturn rotate-keys` again."
)
_RETIRE = (
    "What the previous secret signed and sealed is still read. `pageturn rotate-keys --retire` "
    "forgets it: who signed in before the change then has to sign in again."
)
_RETIRED = "The previous secret is forgotten. Processes that run know it until they are restarted."
_NOTHING_TO_RETIRE = "There is no previous secret."
_UNREADABLE = "Unreadable keys stay as they are: enter them again in the AI settings."
_BY_HAND = """\
APP_SECRET comes from the environment. To change it:
  1. add the new secret as APP_SECRET_PREVIOUS, and restart every process;
  2. let the two change places, and restart every process;
  3. run `pageturn rotate-keys` with the same environment;
  4. remove APP_SECRET_PREVIOUS, and restart every process: who signed in before the change
     then has to sign in again."""
_LAST_STEP = (
    "What the previous secrets signed is still read. When every process runs with this "
    "environment, remove APP_SECRET_PREVIOUS and restart them: who signed in before the change "
    "then has to sign in again."
)


def rotate_keys(
    retire: Annotated[
        bool, typer.Option("--retire", help="forget the previous secret, as the last step")
    ] = False,
) -> None:
    """Change the secret that signs and seals. Every call does the next safe step and says what
    comes after it; Pageturn may run."""
    asyncio.run(_rotate(get_settings(), retire=retire))


async def _rotate(given: Settings, *, retire: bool) -> None:
    async with command_context() as context:
        home = Home(context.settings.home)
        with home_lock(home, "rotate-keys"):
            if given.app_secret is not None:
                await _follow_environment(context, home)
            elif retire and previous_secret(home) is None:
                typer.echo(_NOTHING_TO_RETIRE)
            else:
                await _follow_folder(context, home, given, retire=retire)


async def _follow_environment(context: CommandContext, home: Home) -> None:
    if len(context.settings.require_app_secrets()) == 1:
        typer.echo(_BY_HAND)
    elif await _seal_anew(context, home, context.settings):
        typer.echo(_LAST_STEP)


async def _follow_folder(
    context: CommandContext, home: Home, given: Settings, *, retire: bool
) -> None:
    begun = previous_secret(home) is None
    if begun:
        replace_secret(home)
        typer.echo(_MADE)
    if not await _seal_anew(context, home, with_secrets(given, home)):
        raise typer.Exit(0 if begun else 1)
    if retire:
        forget_previous(home)
    typer.echo(_RETIRED if retire else _RETIRE)


async def _seal_anew(context: CommandContext, home: Home, settings: Settings) -> bool:
    """False when what runs could not read the result. A supervisor that starts later than
    this look reads the secrets that the folder holds now."""
    secrets = settings.require_app_secrets()
    if runs_with(home) not in (None, key_id(secrets[0]).hex()):
        typer.echo(_RESTART)
        return False
    async with context.database.session() as session:
        done = await seal_anew(session, SecretBox(*secrets))
    typer.echo(f"{done.sealed} keys sealed anew, {done.unreadable} unreadable.")
    if done.unreadable:
        typer.echo(_UNREADABLE)
    return True
