"""What people do while an answer is being written: they delete, leave, are sent away."""

import random
import time
from collections.abc import Callable, Iterable, Sequence

from bench.cluster import Cluster
from bench.faults.edited import edits, page_of
from bench.faults.judge import judge
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin, held_at

OVER_SECONDS = 30.0
SPREAD_SECONDS = 1.0  # the requests of a round come at random instants of so long
GONE = ("refused:401", "error:")  # how a reader ends whose session has


def together(
    cluster: Cluster, takes: Sequence[Take], method: str, path: Callable[[Take], str]
) -> dict[str, float]:
    """A request for every turn, by its person, each at its own instant: trial → when it was
    sent."""
    wanted = [(take.person, method, path(take)) for take in takes]
    done = cluster.together(wanted, within=SPREAD_SECONDS)
    for one in done:
        one.answer.raise_for_status()
    return {take.trial: one.sent for take, one in zip(takes, done, strict=True)}


def all_ended(cluster: Cluster, takes: Iterable[Take]) -> None:
    """Until every turn has ended in the database, which is judged if it does not."""
    left = list(takes)
    try:
        all_inside(cluster, left, lambda t: cluster.watch.over_at(t.trial), "ended", OVER_SECONDS)
    except AssertionError:
        return


def over_after(cluster: Cluster, take: Take, since: float) -> float | None:
    over = cluster.watch.over_at(take.trial)
    return None if over is None else over - since


def reader_ended(take: Take, *ends: str) -> list[str]:
    end = take.reader.end or "no end"
    return [] if end.startswith(ends) else [f"the reader saw {end}"]


def chat_deleted(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """While the model asks for a write, or while it talks."""
    plan, latest = rng.choice([("write-then-talk", 6), ("talk", 60)])
    takes = held_at(cluster, rng, count, plan, latest=latest)
    any_instant(rng)
    moments = together(cluster, takes, "DELETE", lambda t: f"/v1/ai/chats/{t.reader.chat_id}")
    any_instant(rng, 0.2)
    cluster.stub.release_all()
    all_ended(cluster, takes)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            ends=("aborted",),
            reader=False,
            seconds=over_after(cluster, take, moments[take.trial]),
            also=reader_ended(take, "finish:interrupted"),
        )
        for take in takes
    ]


def deactivated(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    takes = held_at(cluster, rng, count, "write-then-talk", latest=6)
    any_instant(rng)
    moment = time.monotonic()
    users = [take.person.user_id for take in takes]
    cluster.sql("UPDATE users SET deactivated_at = now() WHERE id = ANY(%s)", users)
    return _sent_away(cluster, rng, takes, moment)


def signed_out(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    takes = held_at(cluster, rng, count, "write-then-talk", latest=6)
    any_instant(rng)
    moments = together(cluster, takes, "POST", lambda _: "/v1/auth/sign-out")
    return _sent_away(cluster, rng, takes, max(moments.values()))


def _sent_away(
    cluster: Cluster, rng: random.Random, takes: list[Take], moment: float
) -> list[Trial]:
    """The model goes on at once, so that the next tool call finds out, or much later."""
    any_instant(rng, rng.choice([0.1, 4.0]))
    cluster.stub.release_all()
    all_ended(cluster, takes)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            ends=("error",),
            reader=False,
            seconds=over_after(cluster, take, moment),
            also=reader_ended(take, *GONE),
        )
        for take in takes
    ]


def membership_removed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The write is refused, and the turn goes on without it."""
    takes = held_at(cluster, rng, count, "write-then-talk", latest=6)
    any_instant(rng)
    with cluster.client(cluster.owner) as owner:
        for take in takes:
            path = f"/v1/spaces/{take.person.space_id}/members/{take.person.user_id}"
            owner.delete(path).raise_for_status()
    any_instant(rng, 0.1)
    cluster.stub.release_all()
    all_over(cluster, takes)
    return [judge(cluster, take, also=_refused(cluster, take)) for take in takes]


def page_trashed(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The page is put into the trash while the model asks for an edit of it."""
    people = cluster.people(count)
    pages = {person.user_id: page_of(cluster, person) for person in people}
    takes = []
    for person in people:
        takes += begin(
            cluster,
            1,
            "edit-then-talk",
            people=[person],
            hold=lambda trial: cluster.stub.hold(trial, step=1, piece=rng.randint(0, 6)),
            page=pages[person.user_id],
        )

    def waits(take: Take) -> bool:
        play = cluster.stub.playing(take.trial)
        return play is not None and play.waiting

    all_inside(cluster, takes, waits, "asking for an edit")
    any_instant(rng)
    together(cluster, takes, "DELETE", lambda t: f"/v1/pages/{pages[t.person.user_id]}")
    any_instant(rng, 0.1)
    cluster.stub.release_all()
    all_over(cluster, takes)
    return [
        judge(cluster, take, also=[*edits(cluster, take, 0), *_refused(cluster, take)])
        for take in takes
    ]


def _refused(cluster: Cluster, take: Take) -> list[str]:
    """The one call of the turn was refused, and the person sees it."""
    calls = cluster.sql(
        "SELECT c.status FROM turn_tool_calls c WHERE c.turn_id::text = %s", take.reader.turn_id
    )
    seen = take.reader.kinds().count("tool-output-error")
    if calls == [("error",)] and seen:
        return []
    return [f"the calls are {calls}, {seen} refusals were seen"]


ROWS = (
    Row("chat-deleted", "chat deleted", "mid turn", chat_deleted, within=2.0),
    Row("deactivated", "user deactivated", "mid turn", deactivated, within=5.0),
    Row("page-trashed", "page put into the trash", "mid turn", page_trashed),
    Row("signed-out", "session ended", "mid turn", signed_out, within=5.0),
    Row("membership", "membership removed", "mid turn", membership_removed),
)
