"""The command `pageturn`. Each subcommand is a file in `ops/commands/`."""

import sys
from typing import Any

import typer
from pydantic import ValidationError

from ops.commands import (
    backup,
    create_user,
    import_pages,
    migrate,
    process,
    reindex,
    restore,
    rotate_keys,
    status,
    up,
)
from shared.core.errors import PageturnError


class _App(typer.Typer):
    """Errors that we know are one line on standard error and exit code 1."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except PageturnError as error:
            _fail(error.message)
        except ValidationError as error:
            first = error.errors()[0]
            _fail(f"{first['loc'][0]}: {first['msg']}")
        except KeyboardInterrupt:
            sys.exit(130)


def _fail(message: str) -> None:
    typer.echo(f"pageturn: {message}", err=True)
    sys.exit(1)


app = _App(
    help="Pageturn: a team wiki with an agent in it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("up")(up.up)
app.command("status")(status.status)
app.command("migrate")(migrate.migrate)
app.command("process")(process.process)
app.command("import")(import_pages.import_pages)
app.command("create-user", cls=create_user.PasswordCommand)(create_user.create_user)
app.command("sign-in-link")(create_user.sign_in_link)
app.command("create-api-key")(create_user.create_api_key)
app.command("reindex")(reindex.reindex)
app.command("rotate-keys")(rotate_keys.rotate_keys)
app.command("backup")(backup.backup)
app.command("restore")(restore.restore)


if __name__ == "__main__":
    app()
