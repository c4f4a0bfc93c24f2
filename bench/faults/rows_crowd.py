"""Three hundred open streams, and ordinary requests beside them."""

import random
import time
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from uuid import uuid4

import httpx2

from bench.cluster import Cluster, Person
from bench.faults.judge import judge
from bench.faults.readings import open_streams
from bench.faults.row import Row, Trial
from bench.faults.takes import all_inside, all_over, any_instant, begin

STREAMS = 300
TABS = 3  # of each person
OPEN_SECONDS = 60.0  # until all of them are open
WORDS, HELD_AT = 45, 44  # the answers go on while requests are made, and do not end before
PAUSE_SECONDS = 0.5  # between two words
WITHIN = 2.0  # seconds that any request may take; without a connection it would be ten

Request = Callable[[httpx2.Client], httpx2.Response]


def many_streams(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    visitors = cluster.people(count)
    idle = [_look_around(cluster, rng, person) for person in visitors]
    takes = begin(
        cluster,
        STREAMS // TABS,
        "talk",
        hold=lambda trial: cluster.stub.hold(trial, step=1, piece=HELD_AT),
        words=WORDS,
        pause=PAUSE_SECONDS,
    )
    all_inside(cluster, takes, lambda take: take.reader.turn_id, "answered", OPEN_SECONDS)
    tabs = [cluster.follow(take.person, take.trial) for take in takes for _ in range(1, TABS)]
    cluster.wait_for(lambda: open_streams(cluster) >= STREAMS, OPEN_SECONDS, "all are open")
    busy = [_look_around(cluster, rng, person) for person in visitors]
    still_open = open_streams(cluster)
    cluster.stub.release_all()
    all_over(cluster, takes)
    for tab in tabs:
        tab.wait()
    answers = [judge(cluster, take) for take in takes]
    wrong = [t.note for t in answers if t.note] + [f"tab: {f}" for tab in tabs for f in tab.faults]
    if still_open < STREAMS:
        wrong.append(f"only {still_open} streams were open to the end")
    aside = f"ordinary requests: {_told(idle)}; beside {STREAMS} streams {_told(busy)}"
    lost = any(t.lost for t in answers)
    doubled = any(t.doubled for t in answers)
    return [
        Trial(lost, doubled, max(times), "; ".join(dict.fromkeys(wrong)), aside) for times in busy
    ]


def _look_around(cluster: Cluster, rng: random.Random, person: Person) -> list[float]:
    """One person's ordinary requests, one after the other: seconds of each."""
    any_instant(rng, 0.2)
    times = []
    with cluster.client(person, rng.choice(cluster.apis)) as client:
        made = client.post("/v1/pages", json=_page(person)).raise_for_status().json()
        requests: Sequence[Request] = (
            lambda c: c.get(f"/v1/pages/{made['id']}"),
            lambda c: c.get(f"/v1/spaces/{person.space_id}/tree"),
            lambda c: c.get("/v1/search", params={"q": "quiet river"}),
            lambda c: c.get("/v1/ai/chats"),
            lambda c: c.patch(f"/v1/pages/{made['id']}", json={"markdown": f"River {uuid4()}."}),
        )
        for request in requests:
            begun = time.perf_counter()
            request(client).raise_for_status()
            times.append(time.perf_counter() - begun)
    return times


def _page(person: Person) -> dict[str, str]:
    return {"spaceId": str(person.space_id), "title": "River", "markdown": "A quiet river."}


def _told(looks: Sequence[Sequence[float]]) -> str:
    times = [1_000 * seconds for look in looks for seconds in look]
    return f"p50 {median(times):.0f} ms, p99 {quantiles(times, n=100)[98]:.0f} ms"


ROWS = (
    Row(
        "many-streams",
        "pool exhausted",
        f"{STREAMS} streams open",
        many_streams,
        at_once=20,
        within=WITHIN,
    ),
)
