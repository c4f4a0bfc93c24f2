"""Whether everybody takes messages: by what they do, not by what they say of themselves."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from bench.cluster import Cluster
from bench.faults.takes import Take, all_over, begin
from shared.bus.jobs import FollowIndex
from workers.maintenance.ticking import tick_key

SHORT = 20  # words of an answer that only has to come
ANSWER_SECONDS = 20.0  # until each chat worker has taken a turn
OTHERS_SECONDS = 15.0  # for a message of a page: without one it is looked for after 20
_INDEXED = "SELECT 1 FROM page_index WHERE page_id = %s AND state = 'indexed'"


def silent_workers(cluster: Cluster, takes: Iterable[Take]) -> list[str]:
    """The chat workers that took none of these turns, and none of those that are sent now."""
    taken = _takers(cluster, takes)
    deadline = time.monotonic() + ANSWER_SECONDS
    while taken < set(cluster.workers) and time.monotonic() < deadline:
        wave = begin(cluster, 2 * len(cluster.workers), "talk", words=SHORT)
        all_over(cluster, wave, ANSWER_SECONDS)
        taken |= _takers(cluster, wave)
    return [f"{name} takes no turns" for name in sorted(set(cluster.workers) - taken)]


def _takers(cluster: Cluster, takes: Iterable[Take]) -> set[str]:
    """The chat workers, as they run now, that took one of the turns."""
    owners = {sight.owner for take in takes for sight in cluster.watch.sights(take.trial)}
    pids = {owner.split(":")[1] for owner in owners if owner}
    return {name for name in cluster.workers if str(cluster.pid(name)) in pids}


def silent_others(cluster: Cluster) -> list[str]:
    """Of the index worker, the one for short calls and the clock those that do nothing."""
    [person] = cluster.people(1)
    page = {"spaceId": str(person.space_id), "title": "A river", "markdown": "A quiet river."}
    with cluster.client(person) as client:
        made = client.post("/v1/pages", json=page).raise_for_status().json()["id"]

        def understood() -> bool:
            found = client.get("/v1/search", params={"q": "river"}).raise_for_status()
            return found.json()["mode"] == "hybrid"

        tries: dict[str, Callable[[], Any]] = {
            "no page is indexed": lambda: cluster.sql(_INDEXED, made),
            "no query is understood": understood,
            "no clock ticks": lambda: cluster.redis.exists(tick_key(FollowIndex)),
        }
        return [silence for silence, happens in tries.items() if not _in_time(cluster, happens)]


def _in_time(cluster: Cluster, happens: Callable[[], Any]) -> bool:
    try:
        cluster.wait_for(happens, OTHERS_SECONDS, "somebody does something")
    except AssertionError:
        return False
    return True
