"""aimock, a stand-in for OpenAI's interface that others wrote: a development package of the web
app, started as its command."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from ops.processes import ROOT
from tests.fakes.installation import wait_for

COMMAND = ROOT / "web" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
KEY = "sk-the-right-key-of-this-test"
READY_SECONDS = 20.0
_ADDRESS = re.compile(r"listening on (http://\S+)")


def available() -> bool:
    return shutil.which("node") is not None and COMMAND.exists()


@dataclass
class Aimock:
    """`url` without /v1. It accepts `KEY` alone."""

    url: str

    def requests(self, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
        """The bodies that arrived at a path, oldest first."""
        headers = {"authorization": f"Bearer {KEY}"}
        journal = httpx2.get(f"{self.url}/__aimock/journal", headers=headers, timeout=10).json()
        return [entry["body"] for entry in journal if entry["path"] == path]


@contextmanager
def serving(folder: Path, fixtures: list[dict[str, Any]]) -> Iterator[Aimock]:
    """Started with these fixtures on a free port of loopback."""
    file, log = folder / "fixtures.json", folder / "aimock.log"
    file.write_text(json.dumps({"fixtures": fixtures}))
    command = ["node", str(COMMAND), "-p", "0", "-f", str(file), "--validate-on-load"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=os.environ | {"AIMOCK_API_KEYS": KEY}, stdout=output, stderr=output
        )
    try:
        found = wait_for(lambda: _ADDRESS.search(log.read_text()), READY_SECONDS, "aimock")
        yield Aimock(found.group(1))
    finally:
        process.terminate()
        process.wait(10)
