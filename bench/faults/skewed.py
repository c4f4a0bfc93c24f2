"""Runs a module as `python -m` does, with a clock that is so many seconds ahead or behind.

    python -m bench.faults.skewed -600 celery -A workers.app worker …

`time.time`, `datetime.now` and their like are shifted; the monotonic clock goes as it goes.
"""

import runpy
import sys
from datetime import UTC, datetime, timedelta

import time_machine


def main() -> None:
    seconds, module = float(sys.argv[1]), sys.argv[2]
    sys.argv = sys.argv[2:]
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=seconds), tick=True):
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
