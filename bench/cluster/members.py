"""From a kind of process (`ops.processes`) to one that runs beside others of its kind."""

import contextlib
import os
import socket
from collections.abc import Callable, Mapping
from functools import lru_cache

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from ops.children import Child
from ops.home import Home
from ops.processes import ROOT, environment_of, process_named
from ops.supervisor import Member
from shared.bus.jobs import BROKER_TRANSPORT, RunTurn
from shared.core.settings import Settings
from shared.core.tunables import API_END_SECONDS, WORKER_END_SECONDS

CONTROL_TRIES = 20  # until a worker answers
CONTROL_SECONDS = 1.0  # for an answer

Wrap = Callable[[list[str]], list[str]]  # another argument list in place of a process's own


def member(
    name: str,
    kind: str,
    settings: Settings,
    home: Home,
    env: Mapping[str, str],
    wrap: Wrap | None = None,
) -> Member:
    """`settings.port` is the process's own, where it listens."""
    process = process_named(kind)
    argv = [_own(name, argument, home) for argument in process.argv(settings)]
    child = Child(
        argv=argv if wrap is None else wrap(argv),
        lock=home.lock(name),
        log=home.log(name),
        cwd=ROOT,
        env=environment_of(process, settings, os.environ) | {"PAGETURN_PROCESS": name} | dict(env),
        tied=True,
    )
    grace = API_END_SECONDS if kind == "api" else settings.grace_seconds + WORKER_END_SECONDS
    return Member(name, child, 0, grace)


def _own(name: str, argument: str, home: Home) -> str:
    """What two processes of one kind on one machine may not share."""
    if argument.startswith("--hostname="):
        return f"--hostname={name}@%h"
    if argument.startswith("--schedule="):
        return f"--schedule={home.run / name}-schedule"
    return argument


@lru_cache
def _told(url: str) -> Celery:
    """What speaks to the workers of one cluster: each has a Redis of its own."""
    app = Celery("bench", broker=url, set_as_current=False)
    app.conf.broker_transport_options = BROKER_TRANSPORT
    return app


def take_turns(name: str, *, wanted: bool) -> None:
    """Tell a worker by Celery's own remote control to take turns that wait, or not to. One that
    has just been started, or whose Redis has, hears nothing for a moment."""
    app = _told(os.environ["REDIS_URL"])
    tell = app.control.add_consumer if wanted else app.control.cancel_consumer
    target = [f"{name}@{socket.gethostname()}"]
    for _ in range(CONTROL_TRIES):
        with contextlib.suppress(RedisError, OperationalError), app.connection() as fresh:
            if tell(
                RunTurn.queue,
                destination=target,
                reply=True,
                timeout=CONTROL_SECONDS,
                limit=1,
                connection=fresh,
            ):
                return
    raise AssertionError(f"{name} does not hear")
