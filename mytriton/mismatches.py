"""Where the wrong elements of an array are: a small map in characters, and the pattern in words if it is a simple one.

An array is looked at as rows and columns: the last axis across, all others down; an array of one axis is folded by the
block that a program stores, so that a block is a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: The most cells of a map, across and down: with its labels it fits 80 columns, and a pane of 24 rows.
WIDTH, HEIGHT = 64, 12

LEGEND = "#: all of a cell differ, o: some, N: some by NaN or inf, .: none"


def picture(wrong: Array, special: Array, block: int | None = None) -> tuple[str, ...]:
    """The map of the elements that are `wrong` (bool, in the array's shape), with its legend and axes; `special` are
    those that are NaN or infinite, or should be. `block` is what an array of one axis is folded by."""
    shape = wrong.shape
    rows, columns = _extents(shape, block)
    height, width = _cell(rows, HEIGHT), _cell(columns, WIDTH)

    def counted(mask: Array) -> Array:
        flat = np.zeros(rows * columns, bool)
        flat[: mask.size] = mask.reshape(-1)
        down = np.add.reduceat(flat.reshape(rows, columns), range(0, rows, height), axis=0, dtype=np.int64)
        counts: Array = np.add.reduceat(down, range(0, columns, width), axis=1)
        return counts

    cells, there = counted(wrong), counted(np.ones(shape, bool))
    marks = np.where(cells == 0, ".", np.where(cells == there, "#", "o"))
    marks = np.where(counted(wrong & special) > 0, "N", marks)
    marks = np.where(there == 0, " ", marks)
    labels = [_label(row, shape, columns) for row in range(0, rows, height)]
    room = max(map(len, labels))
    folded = f"; a row is a block of {columns}" if len(shape) < 2 and block == columns and rows > 1 else ""
    size = f"a cell is {height} x {width}" if height * width > 1 else "a cell is one element"
    return (
        LEGEND,
        f"{size}{folded}",
        f"{'':{room}} {_ticks(columns, width)}",
        *(f"{label:>{room}} {''.join(row)}".rstrip() for label, row in zip(labels, marks, strict=True)),
    )


def _extents(shape: Sequence[int], block: int | None) -> tuple[int, int]:
    """Rows and columns."""
    if len(shape) > 1:
        return prod(shape[:-1]), shape[-1]
    size = prod(shape)
    if block is None or block >= size:
        block = WIDTH * _cell(-(-size // WIDTH), HEIGHT)  # as text is read
    return -(-size // block), min(block, size)


def _cell(extent: int, most: int) -> int:
    """The least power of two such that at most `most` cells hold `extent` elements."""
    size = 1
    while extent > most * size:
        size *= 2
    return size


def _label(row: int, shape: Sequence[int], columns: int) -> str:
    """What a row begins with: its index, or for an array of one axis that of its first element."""
    if len(shape) < 2:
        return str(row * columns)
    return ",".join(str(int(i)) for i in np.unravel_index(row, shape[:-1]))


def _ticks(columns: int, width: int) -> str:
    """The index of every 16th cell's first column, and of the last column if there is room."""
    text = ""
    for cell in range(0, -(-columns // width), 16):
        text = f"{text:<{cell}}{cell * width}"
    last, end = str(columns - 1), -(-columns // width)
    return f"{text:<{end - len(last)}}{last}" if len(text) < end - len(last) else text


def pattern(wrong: Array, block: int | None = None) -> str:
    """Which elements are wrong, if that can be said in a few words; else ''."""
    count = int(np.count_nonzero(wrong))
    if count < 2:
        return "one element" if count else ""
    if count == wrong.size:
        return "every element"
    if count > _MOST:
        return ""
    everywhere = _progression(np.flatnonzero(wrong), wrong.size, "element")
    if wrong.ndim > 1:
        return _in_table(wrong.reshape(-1, wrong.shape[-1])) or everywhere
    if everywhere.startswith("every") or block is None or block >= wrong.size:
        return everywhere
    return _in_blocks(wrong, block) or everywhere


#: More indices than these are not looked through: they take more memory than the array itself.
_MOST = 1 << 24


def _progression(found: Array, extent: int, what: str) -> str:
    """Evenly spaced indices out of `extent` of something."""
    first, last, steps = int(found[0]), int(found[-1]), np.diff(found)
    if found.size == 1:
        return f"{what} {first}" if first < extent - 1 else f"the last {what}"
    step = int(steps[0])
    through = first < step and last + step >= extent
    if (steps != step).any() or (found.size == 2 and step > 1 and not (through and step <= 4)):
        return ""
    if step == 1:
        if last == extent - 1 and first > 0:
            return f"the last {found.size} {what}s"
        return f"{what}s {first} to {last}" if first else f"the first {found.size} {what}s"
    return f"every {_nth(step)} {what} from {first}{'' if last + step >= extent else f' to {last}'}"


def _nth(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _in_blocks(wrong: Array, block: int) -> str:
    """Whole blocks, or the same positions of all of them."""
    count, rest = -(-wrong.size // block), wrong.size % block
    table = np.append(wrong, np.zeros(count * block - wrong.size, bool)).reshape(count, block)
    blocks, positions = np.flatnonzero(table.any(axis=1)), np.flatnonzero(table.any(axis=0))
    last = blocks[-1] == count - 1 and rest > 0
    if blocks.size * block - (block - rest if last else 0) == table.sum():
        if last and blocks.size == 1:
            return f"the last, partial block: the last {rest} elements"
        return _progression(blocks, count, "block")
    everywhere = (wrong.size // block) * positions.size + int((positions < rest).sum())
    where = _progression(positions, block, "position")
    return f"{where} in every block" if everywhere == table.sum() and where else ""


def _in_table(wrong: Array) -> str:
    """Some rows, some columns, where they cross, or a side of the diagonal."""
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    count = int(wrong.sum())
    if count == rows.size * columns.size:
        parts = [
            _progression(found, extent, what)
            for found, extent, what in ((columns, wrong.shape[1], "column"), (rows, wrong.shape[0], "row"))
            if found.size < extent
        ]
        return " in ".join(parts) if all(parts) else ""
    if count == min(wrong.shape) and wrong.diagonal().all():
        return "the diagonal"
    for side, half, toward in (("above", np.triu, 1), ("below", np.tril, -1)):
        for start, words in ((0, "on and "), (toward, "")):
            if np.array_equal(wrong, half(np.ones_like(wrong), start)):
                return f"all that is {words}{side} the diagonal"
    return ""
