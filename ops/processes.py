"""The processes of Pageturn: what each is called, and how it is started. The one table.

`pageturn up` supervises all of them; on several machines `pageturn process NAME` becomes one.
Secrets reach them by the environment alone: a command line is public on its machine.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ops.errors import OpsError
from shared.core.settings import Settings
from shared.core.tunables import (
    INDEX_CONCURRENCY,
    RPC_CONCURRENCY,
)

ROOT = Path(__file__).resolve().parent.parent
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Process:
    """One kind of process: its argument list and what its environment holds besides."""

    name: str
    argv: Callable[[Settings], list[str]]
    environment: Callable[[Settings], dict[str, str]]


def _python(*arguments: str) -> list[str]:
    return [sys.executable, "-m", *arguments]


def _api(_: Settings) -> list[str]:
    return _python("api.serve")


def _celery(*arguments: str) -> list[str]:
    return _python("celery", "-A", "workers.app", *arguments)


def _worker(name: str, queues: str, concurrency: int) -> list[str]:
    return _celery(
        "worker",
        "--pool=threads",
        f"--queues={queues}",
        f"--concurrency={concurrency}",
        f"--hostname={name}@%h",
        "--without-gossip",
        "--without-mingle",
    )


def _chat(settings: Settings) -> list[str]:
    return _worker("chat", "chat", settings.chat_concurrency)


def _rpc(_: Settings) -> list[str]:
    # Of its own: a person waits for the answer, however many turns or pages wait for theirs.
    return _worker("rpc", "rpc", RPC_CONCURRENCY)


def _index(_: Settings) -> list[str]:
    return _worker("index", "index,maintenance", INDEX_CONCURRENCY)


def _beat(settings: Settings) -> list[str]:
    return _celery("beat", f"--schedule={settings.home.absolute() / 'run' / 'beat-schedule'}")


def _flower(settings: Settings) -> list[str]:
    return _celery("flower", f"--address={flower_host(settings)}", f"--port={settings.flower_port}")


def flower_host(settings: Settings) -> str:
    """Where Flower listens: without a login never beyond this machine."""
    return settings.host if settings.flower_auth else _LOOPBACK


def address_of(host: str, port: int) -> str:
    """The address to open on this machine."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared with, not bound to
        host = _LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _flower_environment(settings: Settings) -> dict[str, str]:
    if not settings.flower_auth:
        # Its API answers on loopback, and a page in a browser cannot stop a worker through it.
        return {"FLOWER_UNAUTHENTICATED_API": "true", "FLOWER_READ_ONLY": "true"}
    login = settings.flower_auth.get_secret_value()
    user, separator, password = login.partition(":")
    if not (user and separator and password) or "," in login:
        raise OpsError("PAGETURN_FLOWER_AUTH must be user:password, without a comma")
    return {"FLOWER_BASIC_AUTH": login}


def _api_environment(settings: Settings) -> dict[str, str]:
    return {"PAGETURN_HOST": settings.host, "PAGETURN_PORT": str(settings.port)}


def _nothing(_: Settings) -> dict[str, str]:
    return {}


PROCESSES = (
    Process("api", _api, _api_environment),
    Process("worker-chat", _chat, _nothing),
    Process("worker-rpc", _rpc, _nothing),
    Process("worker-index", _index, _nothing),
    Process("beat", _beat, _nothing),
    Process("flower", _flower, _flower_environment),
)


def process_named(name: str) -> Process:
    """Raises OpsError, naming those that there are."""
    for process in PROCESSES:
        if process.name == name:
            return process
    known = ", ".join(process.name for process in PROCESSES)
    raise OpsError(f"There is no process {name!r}: one of {known}")


def environment_of(
    process: Process, settings: Settings, inherited: Mapping[str, str]
) -> dict[str, str]:
    """What a process runs with: the inherited variables, less those of others, and its own."""
    others = ("PAGETURN_OWNER_EMAIL", "PAGETURN_OWNER_PASSWORD", "PAGETURN_FLOWER_AUTH")
    kept = {name: value for name, value in inherited.items() if name not in others}
    own = {"PAGETURN_PROCESS": process.name} | process.environment(settings)
    return kept | variables_of(settings) | own


def variables_of(settings: Settings) -> dict[str, str]:
    """Where the data and the stores are, the secrets, and whom models may be asked of, as
    environment variables."""
    named = {
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "APP_SECRET": settings.app_secret,
        "APP_SECRET_PREVIOUS": settings.app_secret_previous,
    }
    secrets = {name: value.get_secret_value() for name, value in named.items() if value}
    return secrets | {
        "PAGETURN_HOME": str(settings.home.absolute()),
        "PAGETURN_PRIVATE_MODELS": str(settings.private_models).lower(),
    }
