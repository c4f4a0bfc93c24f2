"""The table of the matrix."""

from collections import Counter

from bench.faults.row import Outcome

HEAD = (
    f"{'fault':<34}{'moment':<44}{'trials':>6}{'lost':>5}{'doubled':>8}"
    f"{'p50 s':>7}{'p99 s':>7}{'max s':>7}  {'held':<4}{'took s':>8}{'load':>7}"
)


def line(outcome: Outcome) -> str:
    row, seconds = outcome.row, outcome.seconds
    figures = [_share(seconds, 0.5), _share(seconds, 0.99), seconds[-1] if seconds else None]
    cells = "".join("      –" if s is None else f"{s:>7.1f}" for s in figures)
    return (
        f"{row.fault:<34}{row.moment:<44}{len(outcome.trials):>6}{outcome.lost:>5}"
        f"{outcome.doubled:>8}{cells}  {'yes' if outcome.held else 'NO':<4}"
        f"{outcome.took:>8.0f}{outcome.load:>7.1f}"
    )


def notes(outcome: Outcome) -> list[str]:
    """What was not as it must be, equal ones counted, and figures told beside."""
    counted = Counter(outcome.notes)
    asides = dict.fromkeys(trial.aside for trial in outcome.trials if trial.aside)
    return [
        *(f"    {count} × {note}" for note, count in counted.most_common(12)),
        *(f"    ({aside})" for aside in asides),
    ]


def _share(ordered: list[float], share: float) -> float | None:
    """The value that so many of them do not exceed."""
    if not ordered:
        return None
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
