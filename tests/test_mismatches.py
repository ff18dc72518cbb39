"""Maps and patterns of wrong elements, as exact texts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mytriton.comparison import compare
from mytriton.mismatches import HEIGHT, LEGEND, WIDTH, pattern, picture

I = np.arange(1000)  # noqa: E741


def table(rows: Any = slice(None), columns: Any = slice(None)) -> Any:
    wrong = np.zeros((40, 50), bool)
    wrong[rows, columns] = True
    return wrong


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (I < 0, ""),
        (I == 7, "one element"),
        (I >= 0, "every element"),
        (I % 4 == 3, "every 4th element from 3"),
        ((I % 3 == 0) & (I < 500), "every 3rd element from 0 to 498"),
        ((I > 4) & (I < 10), "elements 5 to 9"),
        (I < 10, "the first 10 elements"),
        (I > 989, "the last 10 elements"),
        (I >= 768, "the last, partial block: the last 232 elements"),
        (I // 256 == 1, "block 1"),
        ((I >= 256) & (I < 768), "blocks 1 to 2"),
        (I // 256 % 2 == 1, "every 2nd block from 1"),
        (I % 256 >= 128, "the last 128 positions in every block"),
        (I % 256 == 5, "every 256th element from 5"),
        (I % 256 % 3 == 0, "every 3rd position from 0 in every block"),
        ((I == 3) | (I == 500), ""),
        (np.isin(I, [1, 2, 40, 77]), ""),
        (table(17), "row 17"),
        (table(39), "the last row"),
        (table(slice(3, 6)), "rows 3 to 5"),
        (table(columns=slice(None, None, 8)), "every 8th column from 0"),
        (table(4, slice(10, 13)), "columns 10 to 12 in row 4"),
        (table([3, 11, 12]), ""),
        (np.eye(8, dtype=bool), "the diagonal"),
        (np.triu(np.ones((8, 8), bool), 1), "all that is above the diagonal"),
        (np.tril(np.ones((8, 8), bool)), "all that is on and below the diagonal"),
    ],
)
def test_simple_patterns_are_named(wrong: Any, words: str) -> None:
    assert pattern(wrong, 256) == words


def test_a_row_of_the_map_is_a_block() -> None:
    wrong = (I >= 512) & (I < 522)
    assert picture(wrong, np.zeros_like(wrong), 256) == (
        LEGEND,
        "a cell is 1 x 4; a row is a block of 256",
        "    0               64              128             192          255",
        "  0 " + 64 * ".",
        "256 " + 64 * ".",
        "512 ##o" + 61 * ".",
        "768 " + 58 * ".",
    )


def test_rows_and_columns_of_a_matrix_and_nan() -> None:
    wrong = np.zeros((3, 5), bool)
    wrong[1, 1:4] = True
    special = np.zeros_like(wrong)
    special[1, 2] = special[0, 0] = True
    assert picture(wrong, special) == (LEGEND, "a cell is one element", "  0   4", "0 .....", "1 .#N#.", "2 .....")


def test_leading_axes_become_rows_and_large_arrays_are_folded_down() -> None:
    wrong = np.zeros((2, 7, 200), bool)
    wrong[1, 3, 9] = True
    rows = picture(wrong, np.zeros_like(wrong))
    assert rows[1:3] == ("a cell is 2 x 4", "    0               64              128             192")
    assert rows[3:] == tuple(
        f"{label} {('..o' if label == '1,3' else '...') + 47 * '.'}"
        for label in ("0,0", "0,2", "0,4", "0,6", "1,1", "1,3", "1,5")
    )
    large = np.ones(1 << 22, bool)
    rows = picture(large, np.zeros_like(large), 1024)
    assert rows[1] == "a cell is 512 x 16; a row is a block of 1024"
    assert rows[3:] == tuple(f"{n * 512 * 1024:>7} {64 * '#'}" for n in range(8))
    assert len(rows) <= HEIGHT + 3
    assert max(map(len, rows)) <= WIDTH + 8


def test_without_a_block_an_array_is_read_as_text() -> None:
    wrong = np.zeros(100, bool)
    wrong[99] = True
    assert picture(wrong, np.zeros_like(wrong))[3:] == (" 0 " + 64 * ".", "64 " + 35 * "." + "#")
    assert picture(np.ones((), bool), np.zeros((), bool))[3:] == ("0 #",)


def test_a_report_has_the_map_and_says_what_is_not_finite() -> None:
    expected = np.array([1, np.nan, np.inf, 2, 3], np.float32)
    actual = np.array([np.nan, 1, -np.inf, 2, 4], np.float32)
    report = compare("out", actual, expected)
    assert (report.mismatches, report.nans, report.infinities) == (4, 2, 1)
    assert report.pattern == ""
    assert report.picture[-1] == "0 NNN.#"
    assert (report.max_abs, report.first, report.expected) == (1.0, (0,), 1.0)
    assert compare("out", expected, expected).picture == ()
    halves = compare("out", np.ones(4, ml_dtypes.bfloat16), np.zeros(4, np.float32))
    assert (halves.pattern, halves.nans) == ("every element", 0)
