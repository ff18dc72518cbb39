"""Diffs of listings: insensitive to names, word by word, moved lines as moved; small scripts on long listings."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.model.diff import Row, diff

OLD = [
    "%0 = program_id {axis=0} : i32",
    "%1 = mul %0, stride : i32",
    "%2 = addptr x, %1 : ptr<f32>",
    "%3 = load %2 : f32",
    "%4 = exp %3 : f32",
    "store %2, %4",
]


def kinds(rows: Sequence[Row]) -> list[tuple[str, int | None, int | None]]:
    return [(row.kind, row.old, row.new) for row in rows if row.kind != "same"]


def test_names_do_not_count() -> None:
    renamed = [line.replace("%", "%v") for line in OLD]
    assert kinds(diff(OLD, renamed)) == []
    assert kinds(diff(["%a = add %b, %b : i32"], ["%1 = add %0, %0 : i32"])) == []
    ptx = ["add.f32 %f3, %f1, %f2;", "st.global.f32 [%rd1], %f3;"]
    assert kinds(diff(ptx, [line.replace("%f", "%f1") for line in ptx])) == []


def test_another_operand_is_a_change_of_that_word() -> None:
    (row,) = [r for r in diff(OLD, [*OLD[:5], "store %2, %3"]) if r.kind != "same"]
    assert row == Row("changed", 5, 5, ((10, 12),), ((10, 12),))
    swapped = ["%0 = load a : f32", "%1 = load b : f32", "%2 = sub %0, %1 : f32"]
    assert kinds(diff(swapped, [*swapped[:2], "%2 = sub %1, %0 : f32"])) == [("changed", 2, 2)]


def test_a_line_inserted_before_all_renames_nothing() -> None:
    shifted = ["%0 = constant 7 : i32"]
    for number, line in enumerate(OLD):
        assert line.startswith((f"%{number}", "store"))
        for name in range(4, -1, -1):
            line = line.replace(f"%{name}", f"%{name + 1}")
        shifted.append(line)
    assert kinds(diff(OLD, shifted)) == [("added", None, 0)]
    assert kinds(diff(shifted, OLD)) == [("removed", 0, None)]


def test_a_changed_line_shows_its_words() -> None:
    rows = diff(OLD, [*OLD[:4], "%4 = exp2 %3 : f32", OLD[5]])
    (row,) = [r for r in rows if r.kind != "same"]
    assert row == Row("changed", 4, 4, ((5, 8),), ((5, 9),))


def test_a_line_that_stands_elsewhere_is_moved() -> None:
    loop = ["%1 = for n {", "  %5 = load y : f32", "  %2 = mul stride, 4 : i32", "  %3 = load %2 : f32", "}"]
    hoisted = ["%2 = mul stride, 4 : i32", "%1 = for n {", "  %5 = load y : f32", "  %3 = load %2 : f32", "}"]
    assert kinds(diff(loop, hoisted)) == [("moved to", 2, 0), ("moved from", 2, 0)]


@pytest.mark.parametrize(("old", "new"), [([], []), ([], ["a"]), (["a"], []), (["a"], ["b"])])
def test_nothing_on_one_side(old: list[str], new: list[str]) -> None:
    expected = [("removed", i, None) for i in range(len(old))] + [("added", None, i) for i in range(len(new))]
    assert kinds(diff(old, new)) == expected


LINES = st.lists(st.sampled_from(["a", "b", "%0 = c", "%1 = d %0", "store %1, %0", "", "  e"]), max_size=14)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES)
def test_every_line_is_in_one_row(old: list[str], new: list[str]) -> None:
    rows = diff(old, new)
    assert [r.old for r in rows if r.old is not None and r.kind != "moved to"] == list(range(len(old)))
    assert [r.new for r in rows if r.new is not None and r.kind != "moved from"] == list(range(len(new)))
    assert all(
        old[r.old or 0].strip().split("%")[0] == new[r.new or 0].strip().split("%")[0] for r in rows if r.kind == "same"
    )
    assert kinds(diff(old, old)) == []


def test_few_insertions_into_a_long_repetitive_listing_are_found() -> None:
    number = random.Random(0)
    old = [f"%{i} = op{i % 7} %{max(0, i - 1)}, %{max(0, i - 5)} : f32" for i in range(4000)]
    new = [line.replace("%", "%a") for line in old]
    for k in range(20):
        new.insert(number.randrange(len(new)), f"%b{k} = inserted")
    rows = kinds(diff(old, new))
    assert [kind for kind, _, _ in rows] == ["added"] * 20
    assert [new[at or 0].split(" = ")[1] for _, _, at in rows] == ["inserted"] * 20


def test_addresses_and_labels_of_machine_code_are_names() -> None:
    old = ["/*0000*/ MOV R1, R2 ;", "/*0010*/ BRA `(.L_x_0) ;", ".L_x_0:", "/*0020*/ EXIT ;"]
    new = [
        *("/*0000*/ MOV R1, R2 ;", "/*0010*/ NOP ;", "/*0020*/ BRA `(.L_x_1) ;"),
        *(".L_x_1:", "/*0030*/ EXIT ;"),
    ]
    assert [(row.kind, row.new) for row in diff(old, new)] == [
        *(("same", 0), ("added", 1), ("same", 2), ("same", 3), ("same", 4)),
    ]
