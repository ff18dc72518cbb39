"""Jumping back and forth."""

from __future__ import annotations

from explorer.model.history import History, Position

A, B, C, D = (Position("ssa", "opt/dce", row, f"line {row}") for row in range(4))


def test_back_and_forward() -> None:
    history = History()
    assert history.back(A) is None
    history.leave(A)  # from A to B
    history.leave(B)  # from B to C
    assert history.back(C) == B
    assert history.back(B) == A
    assert history.back(A) is None
    assert history.forward(A) == B
    assert history.forward(B) == C
    assert history.forward(C) is None


def test_a_new_jump_forgets_what_was_ahead() -> None:
    history = History()
    history.leave(A)
    assert history.back(B) == A
    history.leave(A)  # to D
    assert history.forward(D) is None
    assert history.back(D) == A


def test_a_place_is_not_kept_twice_and_not_returned_to_from_itself() -> None:
    history = History()
    history.leave(A)
    history.leave(B)
    history.leave(B)
    assert history.back(B) == A
    assert history.back(A) is None


def test_only_so_many_are_kept() -> None:
    history = History()
    for row in range(250):
        history.leave(Position("ssa", "ssa", row))
    here, steps = Position("ssa", "ssa", 250), 0
    while (there := history.back(here)) is not None:
        here, steps = there, steps + 1
    assert (steps, here.row) == (100, 150)


def test_a_row_is_found_again_by_its_text() -> None:
    assert Position("ssa", "", 1, "b").row_in(["new", "a", "b", "c", "b"]) == 2
    assert Position("ssa", "", 3, "b").row_in(["new", "a", "b", "c", "b"]) in (2, 4)
    assert Position("ssa", "", 1, "b").row_in(["a", "b", "b"]) == 1
    assert Position("ssa", "", 9, "gone").row_in(["a", "b"]) == 1
    assert Position("ssa", "", 9, "gone").row_in([]) == 0
