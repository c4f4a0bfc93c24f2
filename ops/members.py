"""From the table of processes and the stores to what the supervisor tends."""

import os
from collections.abc import Sequence

from ops.children import Child
from ops.home import Home
from ops.postgres import Postgres
from ops.processes import ROOT, Process, environment_of
from ops.server import Server
from ops.supervisor import Member
from ops.valkey import Valkey
from shared.core.settings import Settings
from shared.core.tunables import API_END_SECONDS, STORE_STOP_SECONDS, WORKER_END_SECONDS

_API_STAGE, _WORKER_STAGE, _STORE_STAGE = range(3)


def needed_stores(settings: Settings, home: Home) -> list[Server]:
    """The embedded stores that no URL replaces."""
    stores: list[Server] = []
    if settings.database_url is None:
        stores.append(Postgres(home))
    if settings.redis_url is None:
        stores.append(Valkey(home))
    return stores


def store_member(store: Server) -> Member:
    """A store that is up; its port stays what it is while we run."""
    return Member(
        name=store.name,
        child=store.child(),
        stage=_STORE_STAGE,
        grace=STORE_STOP_SECONDS,
        gentle=store.gentle,
    )


def process_members(processes: Sequence[Process], settings: Settings, home: Home) -> list[Member]:
    """One member for each; raises OpsError when a setting makes no sense."""
    return [_process_member(process, settings, home) for process in processes]


def _process_member(process: Process, settings: Settings, home: Home) -> Member:
    child = Child(
        argv=process.argv(settings),
        lock=home.lock(process.name),
        log=home.log(process.name),
        cwd=ROOT,
        env=environment_of(process, settings, os.environ),
    )
    if process.name == "api":
        grace = settings.drain_seconds + API_END_SECONDS
        return Member(process.name, child, _API_STAGE, grace)
    grace = settings.grace_seconds + WORKER_END_SECONDS
    return Member(process.name, child, _WORKER_STAGE, grace)
