"""Every API and chat worker is restarted, one after the other, while people ask and save.

    python -m bench.rolling [--seconds 4]     # of load before, between and after

Nothing may be lost or be felt: each turn that was accepted ends once and completes, each save
that was answered is there, no request fails that came by the balancer, and readers that are
let go come back. Prints what happened; exit code 1 with the reasons where something did not
hold.
"""

import argparse
import itertools
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2

from bench.cluster import Cluster, Person, Reader

DRAIN_SECONDS = 1.5  # of an API that leaves: the balancer looks several times meanwhile
LOOK_SECONDS = 0.3  # between two looks of the balancer at /healthz
ASK_SECONDS, SAVE_SECONDS = 0.4, 0.25  # between two sends, and between two saves
AT_ONCE = 8  # answers that are awaited: a busy machine has fewer turns, not longer ones
END_SECONDS = 60.0  # for a process to end by itself; on an idle machine it takes a few
PEOPLE = 20
TALK = "plan={plan} words=70 pause=0.03 space={space}"
PLANS = ("talk", "read-then-talk", "write-then-talk")


class Balancer:
    """Sends a request to an API whose /healthz was green, over connections that stay open; only
    what could not be sent goes to another one."""

    def __init__(self, cluster: Cluster, person: Person) -> None:
        self._cluster = cluster
        self._green = {cluster.url(name): True for name in cluster.apis}
        self._turn = itertools.count()
        self._client = httpx2.Client(headers=person.headers, timeout=20, trust_env=False)

    def look(self) -> None:
        for url in self._green:
            try:
                answer = httpx2.get(f"{url}/healthz", timeout=2, trust_env=False)
                self._green[url] = answer.is_success
            except httpx2.HTTPError:
                self._green[url] = False

    def send(self, method: str, path: str, body: object) -> httpx2.Response:
        green = [url for url, is_green in self._green.items() if is_green]
        first = next(self._turn) % max(len(green), 1)
        for url in green[first:] + green[:first]:
            try:
                return self._client.request(method, url + path, json=body)
            except httpx2.ConnectError:
                continue
        raise httpx2.ConnectError("no API is green")


@dataclass
class Load:
    """What people do, until told to stop; everything that was accepted is kept."""

    cluster: Cluster
    people: list[Person]
    readers: list[Reader] = field(default_factory=list)
    saved: dict[str, str] = field(default_factory=dict)  # page id → the last title answered
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0

    @contextmanager
    def going(self) -> Iterator[None]:
        over = threading.Event()
        self.balancer = Balancer(self.cluster, self.people[0])
        threads = [
            threading.Thread(target=self._repeat, args=(over, work, pause))
            for work, pause in (
                (self._ask, ASK_SECONDS),
                (self._save, SAVE_SECONDS),
                (self.balancer.look, LOOK_SECONDS),
            )
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def _repeat(self, over: threading.Event, work, pause: float) -> None:
        while not over.wait(pause):
            try:
                work()
            except Exception as error:
                self.failures.append(f"{work.__name__.strip('_')}: {error!r}")

    def _ask(self) -> None:
        if sum(not reader.over for reader in self.readers) >= AT_ONCE:
            return
        number = len(self.readers) + 1
        person = self.people[number % len(self.people)]
        talk = TALK.format(plan=PLANS[number % len(PLANS)], space=person.space_id)
        self.readers.append(self.cluster.ask(person, f"trial=t{number} {talk}"))

    def _save(self) -> None:
        number, begun = len(self.saved) + 1, time.monotonic()
        page = {"spaceId": str(self.people[0].space_id), "title": f"Save {number}"}
        answer = self.balancer.send("POST", "/v1/pages", page).raise_for_status().json()
        self.saved[answer["id"]] = answer["title"]
        title = {"title": f"Save {number} again"}
        self.balancer.send("PATCH", f"/v1/pages/{answer['id']}", title).raise_for_status()
        self.saved[answer["id"]] = title["title"]
        self.slowest = max(self.slowest, time.monotonic() - begun)


def replace(cluster: Cluster, name: str) -> float:
    """Tell a process to stop, as a rolling restart does, and start it again; the seconds that
    it took to leave."""
    cluster.hold(name)
    told = cluster.signal(name, signal.SIGTERM)
    cluster.wait_for(lambda: cluster.pid(name) is None, END_SECONDS, f"{name} ends by itself")
    left = time.monotonic() - told
    cluster.let_go(name)
    cluster.wait_ready(name)
    return left


def complaints(cluster: Cluster, load: Load) -> list[str]:
    """What did not hold."""
    found = list(load.failures)
    for reader in load.readers:
        found += [f"{reader.trial}: {fault}" for fault in reader.faults]
        if reader.end not in ("finish:stop", "stored:complete"):
            found.append(f"{reader.trial} ended by {reader.end}")
    turns = cluster.sql(
        "SELECT c.alias, count(*), bool_and(t.status = 'completed') FROM turns t"
        " JOIN ai_chats c ON c.id = t.chat_id GROUP BY 1"
    )
    kept = {alias: (count, done) for alias, count, done in turns}
    for reader in load.readers:
        if kept.get(reader.trial) != (1, True):
            found.append(f"{reader.trial} has turns, all completed: {kept.get(reader.trial)}")
    titles = {str(page): title for page, title in cluster.sql("SELECT id, title FROM pages")}
    found += [f"a save is lost: {t}" for page, t in load.saved.items() if titles.get(page) != t]
    if not any(len(reader.connections) > 1 for reader in load.readers):
        found.append("no reader was ever let go: nothing was tried")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.rolling")
    parser.add_argument("--seconds", type=float, default=4.0, help="of load between two restarts")
    seconds = parser.parse_args().seconds
    with Cluster(apis=2, chats=2, env={"PAGETURN_DRAIN_SECONDS": str(DRAIN_SECONDS)}) as cluster:
        load = Load(cluster, cluster.people(PEOPLE))
        with load.going():
            time.sleep(seconds)
            for name in (*cluster.apis, *cluster.workers):
                print(f"{name} left in {replace(cluster, name):.1f} s", flush=True)
                time.sleep(seconds)
        for reader in load.readers:
            reader.wait()
        cut = sum(len(reader.connections) > 1 for reader in load.readers)
        attempts = cluster.sql("SELECT attempts, count(*) FROM turns GROUP BY 1 ORDER BY 1")
        print(f"{len(load.readers)} turns, {cut} readers let go; by attempts: {dict(attempts)}")
        print(f"{len(load.saved)} pages saved twice, slowest {load.slowest:.2f} s")
        found = complaints(cluster, load)
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
