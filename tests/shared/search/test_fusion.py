"""Rankings are fused by reciprocal ranks."""

from shared.core.tunables import RRF_K
from shared.search.fusion import fuse


def test_what_two_rankings_agree_on_comes_first() -> None:
    fused = fuse([["a", "b", "c"], ["c", "b", "d"]])
    assert [item for item, _ in fused] == ["c", "b", "a", "d"]
    assert dict(fused)["a"] == 1 / (RRF_K + 1)
    assert dict(fused)["b"] == 2 / (RRF_K + 2)


def test_one_ranking_keeps_its_order_and_none_is_empty() -> None:
    assert [item for item, _ in fuse([["x", "y"], []])] == ["x", "y"]
    assert fuse([]) == []
