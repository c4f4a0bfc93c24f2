"""What rows look at beside the end of a turn: each gives what was wrong, or nothing."""

from collections.abc import Iterable

from bench.cluster import Cluster
from bench.faults.takes import Take


def taken_over(cluster: Cluster, take: Take, since: float, epoch: int = 2) -> float | None:
    """Seconds from the fault until another attempt had claimed the turn."""
    claimed = cluster.watch.first(take.trial, epoch=epoch)
    return None if claimed is None else claimed - since


def ended(take: Take, since: float) -> float | None:
    """Seconds from the fault until the person saw the end."""
    return None if take.reader.ended_at is None else take.reader.ended_at - since


def one_connection(take: Take) -> list[str]:
    """The browser that was attached stayed so: nobody had to reload."""
    count = len(take.reader.connections)
    return [] if count == 1 else [f"{count} connections"]


def cut_short(cluster: Cluster, take: Take, step: int = 1) -> list[str]:
    """The fault came while the first answer to this step was being given."""
    plays = cluster.stub.plays_of(take.trial, step)
    if len(plays) < 2 or plays[0].done:
        return ["the fault did not come in the moment"]
    return []


def asked_once(cluster: Cluster, take: Take, step: int) -> list[str]:
    """What was committed of a step was used: the model was not asked for it again."""
    count = len(cluster.stub.plays_of(take.trial, step))
    return [] if count == 1 else [f"step {step} was asked for {count} times"]


def nothing_withdrawn(take: Take) -> list[str]:
    count = take.reader.kinds().count("reset-step")
    return [f"{count} reset-step"] if count else []


def words_of_last(cluster: Cluster, take: Take, step: int) -> list[str]:
    """The stored words are those of the last answer to this step, all of them and no others."""
    plays = cluster.stub.plays_of(take.trial, step)
    said = "".join(plays[-1].said) if plays else ""
    return [] if take.text == said else ["the stored words are not those of the last answer"]


def attempts(cluster: Cluster, take: Take, wanted: Iterable[int]) -> list[str]:
    """How many attempts were counted."""
    now = cluster.watch.now(take.trial)
    counted = None if now is None else now.attempts
    return [] if counted in tuple(wanted) else [f"{counted} attempts"]


def undisturbed(cluster: Cluster, take: Take, *, steps: int) -> list[str]:
    """One attempt, each step asked for once, and the browser stayed attached."""
    asked = [checked for n in range(1, steps + 1) for checked in asked_once(cluster, take, n)]
    return [*one_connection(take), *attempts(cluster, take, [1]), *asked]
