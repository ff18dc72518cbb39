"""Instructions without a place: where their first use is, or made by a program."""

from __future__ import annotations

from mytriton.backends.first_use import placed
from mytriton.source import Span
from mytriton.stage import Line


def names(text: str) -> tuple[list[str], list[str]] | None:
    """`a = b c` sets a and reads b and c."""
    if text.endswith(":"):
        return None
    sets, _, reads = text.rpartition("=")
    return sets.split(), reads.split()


def lines_of(text: str, reused: bool = False) -> list[int | str]:
    """The lines of rows such as `3 a = b`, or what made them."""
    given = [row.split(" ", 1) for row in text.split("\n")]
    rows = [Line(rest, Span(int(line), 1, int(line), 2) if line != "-" else None) for line, rest in given]
    return [row.span.line if row.span else row.made_by for row in placed(rows, names, "it", reused)]


def test_the_first_use_counts_through_others_without_a_place() -> None:
    assert lines_of("- a = 1\n- b = a\n7 c = b\n9 d = a") == [7, 7, 7, 9]


def test_what_is_used_in_the_next_trip_only_has_the_place_of_that() -> None:
    assert lines_of("- loop:\n4 b = a\n- a = b") == ["", 4, 4]


def test_what_nothing_uses_says_what_made_it() -> None:
    assert lines_of("- jump\n5 a = b") == ["it", 5]


def test_a_register_that_is_set_again_is_another_value() -> None:
    assert lines_of("- a = 1\n4 a = b\n5 c = a", reused=True) == ["it", 4, 5]
    assert lines_of("- a = 1\n4 a = b\n5 c = a") == [5, 4, 5]  # a variable that two branches set
