import random

import pytest

from shared.core.errors import InvalidInputError
from shared.wiki.positions import between


@pytest.mark.req("WK-10")
def test_a_hundred_inserts_between_two_neighbours_stay_in_order_and_short() -> None:
    for side in ("low", "high"):
        low, high = between(None, None), between(between(None, None), None)
        made = []
        for _ in range(100):
            middle = between(low, high)
            assert low < middle < high
            made.append(middle)
            low, high = (low, middle) if side == "low" else (middle, high)
        assert max(map(len, made)) <= 24


def test_ten_thousand_appended_positions_stay_short() -> None:
    row = [between(None, None)]
    for _ in range(10_000):
        row.append(between(row[-1], None))
    assert row == sorted(set(row))
    assert max(map(len, row)) <= 4


def test_ten_thousand_positions_in_front_stay_short() -> None:
    row = [between(None, None)]
    for _ in range(10_000):
        row.append(between(None, row[-1]))
    assert row[::-1] == sorted(set(row))
    assert max(map(len, row)) <= 4


def test_random_inserts_keep_order() -> None:
    chance = random.Random(7)
    row = [between(None, None)]
    for _ in range(3_000):
        at = chance.randrange(len(row) + 1)
        before = row[at - 1] if at else None
        after = row[at] if at < len(row) else None
        row.insert(at, between(before, after))
    assert row == sorted(set(row))
    assert not any(position.endswith("0") and len(position) > 5 for position in row)


def test_equal_or_reversed_neighbours_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        between("a1", "a1")
    with pytest.raises(InvalidInputError):
        between("a2", "a1")
