"""From a source line to listing rows, and back."""

from __future__ import annotations

from explorer.model.links import Links, Place, reveal
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


def test_place_of_a_row() -> None:
    links = Links(LINES)
    assert [links.place(row) for row in (0, 4, 5, 99)] == [Place(5), None, Place(6), None]


def test_rows_in_view_stay_where_they_are() -> None:
    assert reveal([], 0, 10) is None
    assert reveal([3, 4, 5], 0, 10) is None
    assert reveal([3, 4, 50], 0, 10) is None


def test_a_run_of_rows_comes_into_view_as_a_whole() -> None:
    assert reveal([8, 9, 10, 11], 0, 10) == 5  # its first row at a third of the height
    assert reveal([30, 31], 0, 9) == 27
    assert reveal([20, 21, 22, 23, 24, 25, 26, 27], 0, 9) == 19  # as far down as its last row allows
    assert reveal([1], 40, 9) == 0


def test_a_run_longer_than_the_view_shows_its_beginning() -> None:
    assert reveal(list(range(5, 50)), 0, 10) == 5
    assert reveal(list(range(5, 50)), 5, 10) is None
