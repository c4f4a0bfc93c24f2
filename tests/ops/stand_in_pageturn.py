"""`pageturn up` with stand-ins for its processes: real stores, a real schema, no product.

Run as a module; the settings come from the environment. A word after it says what the
preparation does to the database besides migrating it: `newer` makes it too new.
"""

import sys

import psycopg

from ops.migrate import upgrade
from ops.processes import Process
from ops.up import Up
from shared.core.errors import PageturnError
from shared.core.settings import Settings

API = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *parts):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
WORKER = "import signal; print('at work', flush=True); signal.pause()"


def nothing(_: Settings) -> dict[str, str]:
    return {}


PROCESSES = (
    Process("api", lambda settings: [sys.executable, "-c", API, str(settings.port)], nothing),
    Process("worker-chat", lambda settings: [sys.executable, "-c", WORKER], nothing),
)


def prepare(settings: Settings) -> str | None:
    url = settings.require_database_url()
    upgrade(url)
    if sys.argv[1:] == ["newer"]:
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute("UPDATE alembic_version SET version_num = 'from-the-future'")
        upgrade(url)
    return "/sign-in?token=one-time"


if __name__ == "__main__":
    try:
        Up(Settings(), prepare, processes=PROCESSES).run()
    except PageturnError as error:
        sys.exit(f"pageturn: {error.message}")
