"""What the editor's commands make of lines: exact texts, and where the cursor is then."""

from __future__ import annotations

import pytest

from explorer.model.editing import (
    Change,
    Place,
    Selected,
    duplicate,
    indent,
    move,
    new_line,
    place_named,
    toggle_comment,
)

LINES = ["def f():", "    a = 1", "", "      b = 2  # b", "c"]


def cursor(row: int, column: int) -> Selected:
    return Selected((row, column), (row, column))


def selected(change: Change) -> tuple[Place, Place]:
    return change.selected.anchor, change.selected.cursor


def test_the_lines_of_a_selection() -> None:
    assert list(cursor(2, 0).rows) == [2]
    assert list(Selected((1, 3), (3, 1)).rows) == [1, 2, 3]
    assert list(Selected((3, 0), (1, 3)).rows) == [1, 2], "a line whose start alone is touched is not meant"


def test_indenting_goes_to_the_next_level_and_leaves_blank_lines() -> None:
    deeper = indent(LINES, Selected((1, 4), (3, 7)), 1)
    assert (deeper.rows, deeper.lines) == (range(1, 4), ("        a = 1", "", "        b = 2  # b"))
    assert selected(deeper) == ((1, 8), (3, 9)), "at the same characters"
    back = indent(LINES, Selected((1, 0), (4, 0)), -1)
    assert back.lines == ("    a = 1"[4:], "", "    b = 2  # b")
    assert selected(back) == ((1, 0), (4, 0)), "whole lines stay selected"
    assert indent(LINES, cursor(4, 1), -1).lines == ("c",), "not to the left of the margin"
    assert indent(["\tx"], cursor(0, 1), 1).lines == ("        x",), "a tab is a level"


def test_comments_stand_in_one_column_and_go_again() -> None:
    on = toggle_comment(LINES, Selected((1, 0), (4, 0)))
    assert on.lines == ("    # a = 1", "", "    #   b = 2  # b")
    text = [LINES[0], *on.lines, LINES[4]]
    assert toggle_comment(text, Selected((1, 0), (4, 0))).lines == tuple(LINES[1:4])
    mixed = toggle_comment(["# a", "b"], Selected((0, 0), (1, 1)))
    assert mixed.lines == ("# # a", "# b"), "what is a comment already stays one when the rest is taken back"
    assert toggle_comment(["#a"], cursor(0, 1)).lines == ("a",)
    one = toggle_comment(LINES, cursor(1, 6))
    assert (one.lines, one.selected.cursor) == (("    # a = 1",), (1, 8))


def test_duplicating_and_moving() -> None:
    twice = duplicate(LINES, Selected((0, 2), (1, 3)))
    assert (twice.rows, twice.lines) == (range(2), (*LINES[:2], *LINES[:2]))
    assert selected(twice) == ((2, 2), (3, 3))
    up = move(LINES, Selected((1, 2), (3, 0)), -1)
    assert up is not None
    assert (up.rows, up.lines) == (range(3), (LINES[1], LINES[2], LINES[0]))
    assert selected(up) == ((0, 2), (2, 0))
    down = move(LINES, cursor(3, 1), 1)
    assert down is not None
    assert (down.rows, down.lines, down.selected.cursor) == (range(3, 5), (LINES[4], LINES[3]), (4, 1))
    assert move(LINES, cursor(0, 0), -1) is None
    assert move(LINES, cursor(4, 0), 1) is None


@pytest.mark.parametrize(
    ("before", "inserted"),
    [
        ("def f():", "\n    "),
        ("    if x:  # y", "\n        "),
        ("    x = '#:'", "\n    "),
        ("    x = a[1:", "\n    "),
        ("    return x", "\n"),
        ("    return (x,", "\n    "),
        ("    returned = x", "\n    "),
        ("", "\n"),
    ],
)
def test_what_enter_inserts(before: str, inserted: str) -> None:
    assert new_line(before) == inserted


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12", (12, 1)),
        (":12:5", (12, 5)),
        ("+3", (8, 1)),
        ("-3", (2, 1)),
        ("-30", (1, 1)),
        ("99:0", (20, 1)),
        ("$", (20, 1)),
        ("x", "'x' is not a line: write 12, 12:5, +3, -3 or $"),
        ("", "'' is not a line: write 12, 12:5, +3, -3 or $"),
    ],
)
def test_the_place_that_is_named(text: str, place: Place | str) -> None:
    assert place_named(text, 5, 20) == place
