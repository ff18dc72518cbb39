"""Finding text in a listing."""

from __future__ import annotations

from explorer.model.search import hits, next_hit, occurrences


def test_case_counts_only_with_a_capital() -> None:
    assert occurrences("Add add", "add") == [(0, 3), (4, 7)]
    assert occurrences("Add add", "Add") == [(0, 3)]
    assert occurrences("Add", "") == []


def test_hits_go_around_the_end() -> None:
    rows = hits(["a", "b", "ab"], "a")
    assert rows == [0, 2]
    assert [next_hit(rows, at, 1) for at in (0, 1, 2)] == [2, 2, 0]
    assert [next_hit(rows, at, -1) for at in (0, 1, 2)] == [2, 0, 0]
    assert next_hit([], 0, 1) is None
