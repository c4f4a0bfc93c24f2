"""The hardest rows of the fault matrix, one turn each: `make faults` plays all of them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MINUTES = 10  # three on an idle machine; a busy one is no fault of what is tested


@pytest.mark.slow
@pytest.mark.req("ST-07")
def test_turns_survive_the_hardest_faults() -> None:
    played = subprocess.run(
        [sys.executable, "-m", "bench.faults", "--short"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=MINUTES * 60,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr[-4_000:]
