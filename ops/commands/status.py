"""`pageturn status`: what runs, since when, and where its log is."""

import time

import typer
from rich.console import Console
from rich.table import Table

from ops.home import open_home
from ops.state import ProcessState, lives, read_state
from shared.core.settings import get_settings


def status() -> None:
    """Show what runs; the exit code is 0 when everything does."""
    home = open_home(get_settings().home)
    state = read_state(home)
    running = {process.name: lives(home, process) for process in state.processes}
    table = Table("process", "pid", "state", "up", "restarts", "log", box=None)
    for process in state.processes:
        table.add_row(*_row(process, running[process.name]))
    console = Console(width=None if Console().is_terminal else 200)
    console.print(table, highlight=False)
    console.print(f"Pageturn: {state.address}  Flower: {state.flower_address}", highlight=False)
    if not state.processes or not all(running.values()):
        raise typer.Exit(1)


def _row(process: ProcessState, running: bool) -> list[str]:
    uptime = _duration(time.time() - process.started) if running else "-"
    return [
        process.name,
        str(process.pid) if running else "-",
        "running" if running else "not running",
        uptime,
        str(process.restarts),
        process.log,
    ]


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
