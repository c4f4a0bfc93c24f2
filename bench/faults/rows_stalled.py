"""Readers that stop reading and keep their connection open."""

import contextlib
import random
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from bench.cluster import Cluster
from bench.faults.judge import judge
from bench.faults.readings import holds_connection, megabytes, open_streams
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin
from shared.core.tunables import STALLED_READER_SECONDS

WORDS, SIZE = 250, 3_000  # an answer that no buffer on the way holds
HELD_AT = 5  # words, until everybody is there
ANSWER_SECONDS = 30.0  # for an answer, whatever a reader does
LET_GO_SECONDS = 20.0  # beyond what a reader may stand still
GROWN_MEGABYTES = 40.0  # of an API, beyond its growth when everybody reads: not an answer a reader
LOOK_SECONDS = 0.3
_READ_MOST = 2_000  # bytes, until a reader stops reading


@dataclass(eq=False)
class Stalled:
    """A browser that asked for a running answer at an API and reads no more of it."""

    api: str
    port: int
    connection: socket.socket
    gone_at: float | None = None

    @property
    def held(self) -> bool:
        """Whether the API still has its end of the connection."""
        return holds_connection(self.port, self.connection.getsockname()[1])


def _stall(cluster: Cluster, rng: random.Random, take: Take) -> Stalled:
    api = rng.choice(cluster.apis)
    port = int(cluster.url(api).rpartition(":")[2])
    connection = socket.socket()
    # Small segments into a small buffer: what the kernels hold between them is small, too.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    connection.settimeout(10)
    connection.connect(("127.0.0.1", port))
    path = f"/v1/ai/chat/tenant/{take.trial}/stream"
    token = take.person.headers["authorization"]
    head = f"GET {path} HTTP/1.1\r\nhost: here\r\nauthorization: {token}\r\n\r\n"
    connection.sendall(head.encode())
    answer = connection.recv(rng.randint(100, _READ_MOST))
    assert answer.startswith(b"HTTP/1.1 200"), answer[:40]
    return Stalled(api, port, connection)


def stalled(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """Each turn has a reader that stands still, beside the one who asked."""
    all_over(cluster, begin(cluster, count, "talk", words=WORDS, size=SIZE), ANSWER_SECONDS)
    before = {api: megabytes(cluster, api) for api in cluster.apis}  # warm
    takes = begin(
        cluster,
        count,
        "talk",
        hold=lambda trial: cluster.stub.hold(trial, step=1, piece=HELD_AT),
        words=WORDS,
        size=SIZE,
    )
    all_inside(
        cluster, takes, lambda t: cluster.stub.reached(t.trial, step=1, piece=HELD_AT), "talking"
    )
    with contextlib.ExitStack() as stack:
        readers = {}
        for take in takes:
            reader = readers[take.trial] = _stall(cluster, rng, take)
            stack.enter_context(reader.connection)
        any_instant(rng)
        cluster.stub.release_all()
        moment = time.monotonic()
        all_over(cluster, takes, ANSWER_SECONDS)
        standing = open_streams(cluster)
        _await_gone(readers.values(), moment)
        left = open_streams(cluster)
        after = {api: megabytes(cluster, api) for api in cluster.apis}
    grown = {api: after[api] - before[api] for api in cluster.apis}
    wrong = [
        *([] if standing == count else [f"{standing} streams were open when all had their answer"]),
        *([f"{left} streams are open at the end"] if left else []),
        *(f"{api} has grown by {mb:.0f} MB" for api, mb in grown.items() if mb > GROWN_MEGABYTES),
    ]
    aside = f"the APIs have grown by {', '.join(f'{mb:.0f} MB' for mb in grown.values())}"
    trials = []
    for take in takes:
        after_seconds, faults = _let_go(readers[take.trial], moment)
        trial = judge(cluster, take, seconds=after_seconds, also=[*wrong, *faults])
        trials.append(replace(trial, aside=aside))
    return trials


def _await_gone(readers: Collection[Stalled], since: float) -> None:
    """Until the APIs have let all of them go, or should have."""
    while time.monotonic() < since + STALLED_READER_SECONDS + LET_GO_SECONDS:
        for reader in readers:
            if reader.gone_at is None and not reader.held:
                reader.gone_at = time.monotonic()
        if all(reader.gone_at is not None for reader in readers):
            return
        time.sleep(LOOK_SECONDS)


def _let_go(reader: Stalled, since: float) -> tuple[float | None, list[str]]:
    """After how many seconds, and what was wrong with that."""
    if reader.gone_at is None:
        return None, ["the API still has its end of the connection"]
    seconds = reader.gone_at - since
    early = seconds < STALLED_READER_SECONDS - 1
    return seconds, [f"let go after {seconds:.0f} s already"] if early else []


ROWS = (
    Row(
        "stalled",
        "reader stands still",
        "mid stream",
        stalled,
        at_once=20,
        within=STALLED_READER_SECONDS + 10,
    ),
)
