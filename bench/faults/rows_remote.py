"""Calls that leave for another system, whose effects no transaction can take back."""

import random
from collections import Counter

from bench.cluster import Cluster
from bench.faults import checks
from bench.faults.judge import judge
from bench.faults.remote import URL_VARIABLE
from bench.faults.row import Row, Trial
from bench.faults.takes import Take, all_inside, all_over, any_instant, begin
from tests.fakes.llm_script import NO_HEAD, RESET, Reply
from tests.fakes.llm_stub import StubThread

NAMES = ("chat-remote-1", "chat-remote-2")
SILENCE = Reply(NO_HEAD, [300.0, RESET])  # the other system takes the call and never answers


def unanswered(cluster: Cluster, rng: random.Random, count: int) -> list[Trial]:
    """The other system has the call, and the worker dies before there is an answer."""
    with StubThread(fallback=SILENCE) as other:
        env = {URL_VARIABLE: f"{other.url}/chat/completions"}
        try:
            for name in NAMES:
                cluster.add(name, "worker-chat", env=env, wrap=_with_the_tool)
            cluster.wait_ready(*NAMES)
            return _unanswered(cluster, rng, count, other)
        finally:
            for name in NAMES:
                cluster.remove(name)


def _with_the_tool(argv: list[str]) -> list[str]:
    return ["bench.faults.worker" if part == "workers.app" else part for part in argv]


def _unanswered(cluster: Cluster, rng: random.Random, count: int, other: StubThread) -> list[Trial]:
    victim = rng.choice(NAMES)
    cluster.only(victim)

    def sent() -> "Counter[str]":
        return Counter(request.body["trial"] for request in list(other.requests))

    takes = begin(cluster, count, "remote-then-talk")
    all_inside(cluster, takes, lambda take: sent()[take.trial], "sent")
    cluster.only(*NAMES)
    any_instant(rng)
    moment = cluster.kill(victim)
    all_over(cluster, takes)
    return [
        judge(
            cluster,
            take,
            seconds=checks.taken_over(cluster, take, moment),
            also=[
                *([] if sent()[take.trial] == 1 else [f"sent {sent()[take.trial]} times"]),
                *_unknown(cluster, take),
                *checks.asked_once(cluster, take, 1),
            ],
        )
        for take in takes
    ]


def _unknown(cluster: Cluster, take: Take) -> list[str]:
    query = "SELECT status, error_code FROM turn_tool_calls WHERE turn_id::text = %s"
    calls = cluster.sql(query, take.reader.turn_id)
    return [] if calls == [("error", "unknown_outcome")] else [f"the calls are {calls}"]


ROWS = (
    Row(
        "remote",
        "kill -9 worker",
        "remote call sent, unanswered",
        unanswered,
        at_once=20,
        hard=True,
    ),
)
