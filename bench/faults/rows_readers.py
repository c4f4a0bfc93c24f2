"""Readers: late ones, those that come back, many of them."""

import itertools
import random
import time
from collections.abc import Iterator
from typing import Any

from bench.cluster import Cluster, Reader
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin

SPAN_SECONDS = 5.0  # in which the other tabs are opened
MOST_CHUNKS = 30  # until a tab hangs up: three times so many come before the answer waits
NUMBERED = 15  # chunks, after which a tab surely has one that has a number
WORDS, HELD_AT = 130, 100  # the answers go on to their end when all have come back


def _tabs(rng: random.Random) -> dict[str, dict[str, Any]]:
    """Options of the readers beside the one who asked."""

    def leaves(count: int, least: int = 1) -> list[int]:
        return [rng.randint(least, MOST_CHUNKS) for _ in range(count)]

    return {
        "second tab": {},
        "late tab": {},
        "reloaded tab": {"leaves": leaves(2)},
        "tab with Last-Event-ID": {"leaves": leaves(2) + leaves(1, NUMBERED), "after_last": True},
    }


def same_sequence(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Five tabs of each person, opened and reloaded at random instants, at either API."""
    takes = begin(
        cluster,
        count,
        "read-then-talk",
        hold=lambda trial: cluster.stub.hold(trial, step=2, piece=HELD_AT),
        words=WORDS,
        pause=0.05,
    )
    openings = [
        (0.0 if name == "second tab" else rng.uniform(0, SPAN_SECONDS), take, name, options)
        for take in takes
        for name, options in _tabs(rng).items()
    ]
    tabs: dict[str, dict[str, Reader]] = {take.trial: {} for take in takes}
    begun = time.monotonic()
    for at, take, name, options in sorted(openings, key=lambda opening: opening[0]):
        time.sleep(max(0.0, begun + at - time.monotonic()))
        api = rng.choice(cluster.apis)
        tabs[take.trial][name] = cluster.follow(take.person, take.trial, api=api, **options)
    all_inside(cluster, takes, lambda take: all(map(_back, tabs[take.trial].values())), "back")
    any_instant(rng)
    cluster.stub.release_all()
    all_over(cluster, takes)
    for reader in itertools.chain.from_iterable(of.values() for of in tabs.values()):
        reader.wait()
    return [judge(cluster, take, also=_unlike(take, tabs[take.trial])) for take in takes]


def _back(tab: Reader) -> bool:
    """It has hung up as often as it should, and follows again."""
    return not tab.leaves and bool(tab.connections and tab.connections[-1].page.chunks)


def _unlike(take: Take, tabs: dict[str, Reader]) -> list[str]:
    """How the tabs of a person differ from the first one."""
    faults = []
    for name, tab in tabs.items():
        faults += [f"{name}: {fault}" for fault in [*tab.faults, *_differences(take.reader, tab)]]
    pages = [id(page) for page in _followed(tabs["tab with Last-Event-ID"])]
    if len(pages) == len(set(pages)):
        faults.append("nobody went on after the last event")
    return faults


def _followed(reader: Reader) -> list[object]:
    return [connection.page for connection in reader.connections if connection.page.chunks]


def _differences(first: Reader, other: Reader) -> Iterator[str]:
    if other.stored != first.stored:
        yield "another stored answer"
    if not str(other.end).startswith("stored") and other.page.shown() != first.page.shown():
        yield "other parts"
    mine = dict(zip(first.page.ids, first.page.chunks, strict=True))
    for number, chunk in zip(other.page.ids, other.page.chunks, strict=True):
        if number and mine.get(number, chunk) != chunk:
            yield f"another event number {number}"
            return


ROWS = (Row("same-sequence", "late subscribe, reload, two tabs", "any", same_sequence),)
