"""What an earlier run left behind when it was killed."""

import signal
from collections.abc import Sequence

from ops import children
from ops.errors import OpsError
from ops.home import Home
from ops.postgres import Postgres
from ops.processes import Process
from ops.valkey import Valkey


def end_leftovers(home: Home, processes: Sequence[Process]) -> None:
    """End the children of a dead supervisor, stores last. Hold the folder's lock for it."""
    names = [(process.name, signal.SIGKILL) for process in processes]
    names += [("initdb", signal.SIGKILL)]
    names += [(store.name, store.gentle) for store in (Valkey, Postgres)]
    for name, gentle in names:
        try:
            children.end_leftover(home.lock(name), gentle)
        except TimeoutError as error:
            raise OpsError(str(error)) from error
