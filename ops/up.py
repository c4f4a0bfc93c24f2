"""`pageturn up`: the stores, the schema, the first workspace, then every process, until Ctrl-C."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from pydantic import SecretStr
from rich.console import Console

from ops import ports
from ops.environment import export
from ops.errors import OpsError
from ops.home import open_home
from ops.leftovers import end_leftovers
from ops.locks import home_lock
from ops.members import needed_stores, process_members, store_member
from ops.processes import PROCESSES, Process, address_of, flower_host
from ops.readiness import missing_parts
from ops.secret import with_secrets
from ops.server import Server
from ops.state import State, clear_state, write_state
from ops.stopping import Stopped, Stopping, listening
from ops.supervisor import Supervisor
from shared.core.secrets import key_id
from shared.core.settings import Settings
from shared.core.tunables import READY_SECONDS, TEND_SECONDS

Prepare = Callable[[Settings], str | None]


def _own(settings: Settings) -> dict[str, object]:
    """What is different here. Who runs everything on one machine may run a model there too."""
    own: dict[str, object] = {"home": settings.home.absolute()}
    if "private_models" not in settings.model_fields_set:
        own["private_models"] = True
    return own


class Up:
    """One run of `pageturn up`; the processes and the preparation can be others in tests."""

    def __init__(
        self,
        settings: Settings,
        prepare: Prepare,
        *,
        processes: Sequence[Process] = PROCESSES,
        console: Console | None = None,
    ) -> None:
        self.settings = settings.model_copy(update=_own(settings))
        self._prepare = prepare
        self._processes = processes
        self._console = console or Console()
        self._supervisor = Supervisor([], report=self._say, changed=self._publish)

    def run(self) -> None:
        """Serve until somebody asks to stop. Raises OpsError with nothing left running."""
        self._home = open_home(self.settings.home)
        with home_lock(self._home), listening() as stopping, ExitStack() as cleanup:
            end_leftovers(self._home, self._processes)
            self._require_ports()
            cleanup.callback(clear_state, self._home)
            cleanup.callback(self._supervisor.stop, stopping.hurry)
            try:
                link = self._start(stopping)
                self._await_ready(stopping)
                self._welcome(link)
                while not stopping.wait(TEND_SECONDS):
                    self._supervisor.tend()
            except Stopped:
                pass
            self._say("Stopping …")

    def _require_ports(self) -> None:
        settings = self.settings
        ports.require_free(settings.host, settings.port, "PAGETURN_PORT")
        ports.require_free(flower_host(settings), settings.flower_port, "PAGETURN_FLOWER_PORT")

    def _start(self, stopping: Stopping) -> str | None:
        self.settings = with_secrets(self.settings, self._home)
        process_members(self._processes, self.settings, self._home)  # complains before it starts
        for store in needed_stores(self.settings, self._home):
            self._say(f"Starting {store.name} …")
            self._adopt(store)
            stopping.check()
        export(self.settings)
        link = self._prepare(self.settings)
        stopping.check()
        self._supervisor.members += process_members(self._processes, self.settings, self._home)
        self._supervisor.start()
        return link

    def _adopt(self, store: Server) -> None:
        process = store.bring_up()
        member = store_member(store)
        member.adopt(process)
        self._supervisor.members.append(member)
        url = SecretStr(store.url)
        self.settings = self.settings.model_copy(update={store.setting: url})

    def _await_ready(self, stopping: Stopping) -> None:
        self._say("Starting the processes …")
        deadline = time.monotonic() + READY_SECONDS
        while missing := missing_parts(address_of(self.settings.host, self.settings.port)):
            if time.monotonic() > deadline:
                raise OpsError(
                    f"Not ready after {READY_SECONDS:.0f} s, missing: {', '.join(missing)}. "
                    f"The logs are in {self._home.logs}"
                )
            stopping.wait(TEND_SECONDS)
            stopping.check()
            self._supervisor.tend()

    def _welcome(self, link: str | None) -> None:
        address = address_of(self.settings.host, self.settings.port)
        self._say(f"Pageturn is ready: {address}")
        if link is not None:
            self._say(f"Sign in (once):    {address}{link}")
        self._say(f"Flower:            {self._flower_address()}")
        self._say(f"Logs:              {self._home.logs}")
        self._say("Ctrl-C stops everything.")

    def _flower_address(self) -> str:
        return address_of(flower_host(self.settings), self.settings.flower_port)

    def _publish(self) -> None:
        state = State(
            pid=os.getpid(),
            address=address_of(self.settings.host, self.settings.port),
            flower_address=self._flower_address(),
            database_url=self.settings.require_database_url(),
            redis_url=self.settings.require_redis_url(),
            processes=tuple(member.state() for member in self._supervisor.members),
            key_id=key_id(self.settings.require_app_secret()).hex(),
        )
        write_state(self._home, state)

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
