"""Where the panes stand for a given size of the terminal. A pure function: the screen only follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Widths (columns) of the terminal from which two and four columns of panes fit, and the height (rows) from which a
#: bottom row does.
MEDIUM, WIDE, TALL = 100, 160, 32

#: The source's column is a little wider: its lines are the ones that are typed.
COLUMN_WEIGHTS = (10, 9, 9, 9)

PANES = ("source", "tree", "ssa", "cuda", "mlir", "asm", "stages", "problems", "run")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that one of several panes takes; `weight` is its share of the height (or, in a row, of the width)."""

    panes: tuple[str, ...]
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Box:
    """A pane that is shown, and where: columns and rows from the top left of the area."""

    pane: str
    x: int
    y: int
    width: int
    height: int


def slots(width: int, tall: bool) -> tuple[tuple[tuple[Slot, ...], ...], tuple[Slot, ...], int]:
    """Columns of slots, the bottom row's slots, and the bottom row's height."""
    lower = ("stages", "problems", "run")
    if width < MEDIUM:
        return ((Slot(("source",)), Slot(("ssa", "tree", "cuda", "mlir", "asm", *lower))),), (), 0
    if width < WIDE:
        left = (Slot(("source",)), Slot(("ssa", "tree")))
        if tall:
            right = (Slot(("cuda", "asm")), Slot(("mlir", "stages")))
            return (left, right), (Slot(("problems",)), Slot(("run",))), 7
        return (left, (Slot(("cuda", "asm")), Slot(("mlir", *lower)))), (), 0
    columns = (
        (Slot(("source",), 3), Slot(("tree",), 2)),
        (Slot(("ssa",)),),
        (Slot(("cuda",)), Slot(("asm",))),
        (Slot(("mlir",) if tall else ("mlir", *lower)),),
    )
    return columns, tuple(Slot((name,)) for name in lower) if tall else (), 11 if tall else 0


def split(total: int, weights: Sequence[int], gap: int) -> list[tuple[int, int]]:
    """`(offset, length)` of parts of `total` in proportion to `weights`, with `gap` between neighbours."""
    room = total - gap * (len(weights) - 1)
    parts, used, at = [], 0, 0
    for index, _ in enumerate(weights):
        used = room * sum(weights[: index + 1]) // sum(weights)
        parts.append((at + gap * index, used - at))
        at = used
    return parts


def arrange(
    width: int, height: int, recent: Sequence[str], zoomed: str | None = None, tall: bool = False
) -> tuple[Box, ...]:
    """The panes to show in an area of this size (of a terminal that is `tall` or not). A slot shows that one of its
    panes that is first in `recent`."""
    if zoomed is not None:
        return (Box(zoomed, 0, 0, width, height),)
    order = [*recent, *PANES]
    columns, bottom, bottom_height = slots(width, tall)
    boxes = []

    def front(slot: Slot) -> str:
        if not set(slot.panes) & set(recent):
            return slot.panes[0]
        return min(slot.panes, key=order.index)

    upper = height - bottom_height
    for (x, w), column in zip(split(width, COLUMN_WEIGHTS[: len(columns)], 1), columns, strict=True):
        for (y, h), slot in zip(split(upper, [s.weight for s in column], 0), column, strict=True):
            boxes.append(Box(front(slot), x, y, w, h))
    for (x, w), slot in zip(split(width, [s.weight for s in bottom], 1) if bottom else (), bottom, strict=True):
        boxes.append(Box(front(slot), x, upper, w, bottom_height))
    return tuple(boxes)
