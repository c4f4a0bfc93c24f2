"""Every API and chat worker is restarted while people ask and save: `python -m bench.rolling`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MINUTES = 10  # one on an idle machine; a busy one is no fault of what is tested


@pytest.mark.slow
def test_a_rolling_restart_loses_nothing_and_no_request_fails() -> None:
    played = subprocess.run(
        [sys.executable, "-m", "bench.rolling"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=MINUTES * 60,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr[-4_000:]
