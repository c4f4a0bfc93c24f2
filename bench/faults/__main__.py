"""Plays the fault matrix and prints its table.

    make faults
    .venv/bin/python -m bench.faults --row worker-mid-answer --trials 8 --seed 7
    .venv/bin/python -m bench.faults --short

Exit code 1 when a row does not hold. With the default times (lease, heartbeat, grace), as a
person has them who sets nothing; the whole of it takes up to half an hour on two cores.
"""

import argparse
import os
import random
import secrets
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bench.cluster import Cluster
from bench.faults import table
from bench.faults.registry import ROWS
from bench.faults.row import Outcome, Row, Trial

TRIALS = 20  # of a row, at least


def main() -> int:
    arguments = _arguments()
    rows = [row for row in ROWS if _wanted(row, arguments)]
    if not rows:
        print("There is no such row. The rows:", *(row.key for row in ROWS), sep="\n  ")
        return 2
    trials = 1 if arguments.short else arguments.trials
    load = os.getloadavg()[0]
    print(
        f"seed {arguments.seed}, {os.cpu_count()} cores, load {load:.1f}\n{table.HEAD}", flush=True
    )
    outcomes = list(play_all(rows, trials, arguments.seed, keep=arguments.keep))
    held = sum(outcome.held for outcome in outcomes)
    print(f"\n{table.HEAD}")
    for outcome in outcomes:
        print("\n".join([table.line(outcome), *table.notes(outcome)]))
    minutes = sum(outcome.took for outcome in outcomes) / 60
    print(f"\n{held} of {len(outcomes)} rows held, in {minutes:.0f} minutes")
    return 0 if held == len(outcomes) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Breaks a Pageturn on purpose, row by row.")
    parser.add_argument("--row", action="append", help="part of a row's key; may be repeated")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each row, at least")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of all random instants")
    parser.add_argument("--short", action="store_true", help="one trial of the hardest rows")
    parser.add_argument("--keep", action="store_true", help="leave the logs behind, say where")
    return parser.parse_args()


def _wanted(row: Row, arguments: argparse.Namespace) -> bool:
    if arguments.row:
        return any(part in row.key for part in arguments.row)
    return row.hard or not arguments.short


def play_all(
    rows: Sequence[Row], trials: int, seed: str, *, keep: bool = False
) -> Iterator[Outcome]:
    """Play rows and say how each went; those that need the same cluster share one."""
    for options, group in groupby(_by_cluster(rows), key=lambda row: dict(row.cluster)):
        with Cluster(keep=keep, **options) as cluster:
            if keep:
                print(f"logs: {cluster.home.logs}", flush=True)
            for row in group:
                outcome = _play_row(cluster, row, trials, random.Random(f"{seed}:{row.key}"))
                print("\n".join([table.line(outcome), *table.notes(outcome)]), flush=True)
                yield outcome


def _by_cluster(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: repr(sorted(row.cluster.items())))


def _play_row(cluster: Cluster, row: Row, trials: int, rng: random.Random) -> Outcome:
    outcome, begun = Outcome(row), time.monotonic()
    while len(outcome.trials) < trials:
        count = min(row.at_once, trials - len(outcome.trials))
        outcome.trials += _play_round(cluster, row, rng, count)
    outcome.took, outcome.load = time.monotonic() - begun, os.getloadavg()[0]
    return outcome


def _play_round(cluster: Cluster, row: Row, rng: random.Random, count: int) -> list[Trial]:
    """A round that could not be played, or after which turns go on for ever, did not hold."""
    try:
        trials = row.play(cluster, rng, count)
    except Exception as error:
        traceback.print_exc()
        trials = [Trial(note=f"not played: {error}")] * count
    try:
        cluster.wait_rest()
    except AssertionError as error:
        stuck = cluster.give_up()
        trials.append(Trial(lost=bool(stuck), note=f"after the round: {error}: {stuck} turns"))
    return trials


if __name__ == "__main__":
    sys.exit(main())
