"""Log lines say where and what, never what was written."""

import json
import subprocess
import sys

PROGRAM = """
import logging
from shared.core.logging import configure_logging, get_logger
configure_logging("test-process")
log = get_logger("here")
try:
    try:
        raise ValueError("canary in a message")
    except ValueError as error:
        raise RuntimeError("another canary") from error
except RuntimeError:
    log.exception("it_failed", turn_id="t1")
    logging.getLogger("celery").exception("it failed elsewhere")
"""


def test_an_exception_is_named_with_its_place_and_without_its_message() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    ours, theirs = (json.loads(line) for line in done.stderr.splitlines())
    for line in (ours, theirs):
        assert line["process"] == "test-process"
        assert [link["type"] for link in line["exception"]] == [
            "builtins.RuntimeError",
            "builtins.ValueError",
        ]
        assert "<string>" in line["exception"][0]["at"][0]
    assert "canary" not in done.stderr
    assert ours["turn_id"] == "t1"
