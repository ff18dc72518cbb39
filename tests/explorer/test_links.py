"""From a source line to listing rows, and back."""

from __future__ import annotations

from explorer.model.links import Links
from explorer.model.result import LineView

LINES = (
    LineView("func", 5, 1, 11, 2),
    LineView("%0", 6),
    LineView("%1", 7, 5, 9, 3),
    LineView("%2", 8),
    LineView("}", None),
    LineView("%3", 6),
)


def test_rows_of_a_line_are_those_that_start_there() -> None:
    links = Links(LINES)
    assert links.rows(6) == [1, 5]
    assert links.rows(8) == [3]
    assert links.rows(None) == []
    assert links.rows(1) == []


def test_without_one_the_narrowest_range_around_it_counts() -> None:
    links = Links(LINES)
    assert links.rows(9) == [2]
    assert links.rows(10) == [0]


def test_line_of_a_row() -> None:
    links = Links(LINES)
    assert [links.line(row) for row in (0, 4, 5, 99)] == [5, None, 6, None]
