"""In what order the addresses of accesses follow each other: along rows, or along columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod

from mytriton.analysis.axis import AxisInfo, axis_info
from mytriton.analysis.ranges import Range
from mytriton.ir import ops
from mytriton.ir.core import Func, Value
from mytriton.layout.layout import Layout


class Orders:
    """What is known of the runs of values (`axis_info`), in each order; by columns only if someone asks."""

    def __init__(self, func: Func, ranges: Mapping[Value, Range]) -> None:
        self._func, self._ranges = func, ranges

    @cached_property
    def rows(self) -> dict[Value, AxisInfo]:
        """In row-major order."""
        return axis_info(self._func, self._ranges)

    @cached_property
    def columns(self) -> dict[Value, AxisInfo]:
        """In column-major order."""
        return axis_info(self._func, self._ranges, columns=True)

    def along(self, layout: Layout) -> Mapping[Value, AxisInfo]:
        """In the order of the elements that consecutive registers of a thread hold; nothing if it is neither."""
        if layout.step == 1:
            return self.rows
        return self.columns if layout.step == column_step(layout.shape) else {}

    def by_columns(self, op: ops.Load | ops.Store) -> bool:
        """Whether the addresses of an access follow each other along columns rather than along rows."""
        return self.columns[op.pointer].contiguous > self.rows[op.pointer].contiguous


def column_step(shape: tuple[int, ...]) -> int:
    """How far apart, in row-major order, elements are that follow each other along the first axis."""
    return prod(shape[1:])
