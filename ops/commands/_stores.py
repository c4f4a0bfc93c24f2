"""The stores for a command: those of the environment, of a running Pageturn, or its own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pydantic import SecretStr

from ops.environment import export
from ops.errors import NotRunningError
from ops.home import Home, open_home
from ops.leftovers import end_leftovers
from ops.locks import home_lock
from ops.members import needed_stores
from ops.migrate import upgrade
from ops.processes import PROCESSES
from ops.secret import with_secrets
from ops.state import read_state
from shared.core.settings import Settings, get_settings


@contextmanager
def settings_with_stores() -> Iterator[Settings]:
    """Complete settings, exported to this process's environment.

    With URLs in the environment those are used; else a running Pageturn's stores; else the
    data folder's are started for the duration, and migrated. Raises OpsError.
    """
    settings = get_settings()
    home = open_home(settings.home)
    with ExitStack() as stack:
        try:
            settings = settings.model_copy(update=_running(settings, home))
        except NotRunningError:
            stack.enter_context(home_lock(home))
            settings = stack.enter_context(own_stores(settings, home))
            upgrade(settings.require_database_url())
        settings = with_secrets(settings, home).model_copy(update={"home": home.root})
        export(settings)
        yield settings


def _running(settings: Settings, home: Home) -> dict[str, SecretStr]:
    if settings.database_url is not None and settings.redis_url is not None:
        return {}
    state = read_state(home)
    found = {"database_url": state.database_url, "redis_url": state.redis_url}
    return {name: SecretStr(url) for name, url in found.items() if getattr(settings, name) is None}


@contextmanager
def own_stores(settings: Settings, home: Home) -> Iterator[Settings]:
    """Start what no URL replaces, for the duration. Hold the folder's lock for it."""
    end_leftovers(home, PROCESSES)
    with ExitStack() as stack:
        for store in needed_stores(settings, home):
            stack.callback(store.halt, store.bring_up())
            settings = settings.model_copy(update={store.setting: SecretStr(store.url)})
        yield settings
