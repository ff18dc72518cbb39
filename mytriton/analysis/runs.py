"""What may be known of how the elements of a block follow each other, and what becomes of it where they move."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from mytriton.ir.core import Value
from mytriton.records import dataclass
from mytriton.types import shape_of

#: Stands for "divisible by every power of two": zero.
ANY_POWER = 1 << 64


@dataclass(frozen=True, slots=True)
class AxisInfo:
    """What is known of a block v of `size` elements in row-major order (a scalar has size 1). Pointers count in
    elements, by address.

    stride    within each aligned group of `group` elements (a power of two), v[i+1] - v[i] is this constant modulo
              2**bits; None if nothing is known
    exact     the group size within which that holds without wrapping (a pointer's address never wraps)
    multiple  a power of two that divides the first element of each group of `group`
    """

    size: int
    stride: int | None
    group: int
    exact: int
    multiple: int

    @property
    def contiguous(self) -> int:
        """The largest known power of two c such that every aligned group of c elements holds consecutive values."""
        return self.exact if self.stride == 1 else 1

    @property
    def divisible(self) -> int:
        """The largest known power of two that divides the first value of each group of `contiguous` elements; for a
        pointer: its address in units of the element size."""
        return regroup(self, self.contiguous).multiple

    @property
    def constant(self) -> int:
        """The largest known power of two c such that the elements of every aligned group of c are equal."""
        return self.exact if self.stride == 0 else 1


def power_dividing(number: int) -> int:
    """The largest power of two that divides a number."""
    return number & -number if number else ANY_POWER


def regroup(info: AxisInfo, group: int) -> AxisInfo:
    """The same block, described in smaller groups."""
    if group >= info.group:
        return info
    step = power_dividing((info.stride or 0) * group)
    return AxisInfo(info.size, info.stride, group, min(info.exact, group), min(info.multiple, step))


def unknown(value: Value, multiple: int = 1) -> AxisInfo:
    """A value of which only a divisor is known."""
    size = size_of(value)
    return AxisInfo(size, 0 if size == 1 else None, 1, 1, multiple)


def size_of(value: Value) -> int:
    """Elements in a block; 1 for a scalar."""
    return prod(shape_of(value.type))


def join(x: AxisInfo, y: AxisInfo) -> AxisInfo:
    """What holds of two blocks of one size, whichever of them it is."""
    group = min(x.group, y.group) if x.stride == y.stride else 1
    x, y = regroup(x, group), regroup(y, group)
    stride = x.stride if x.stride == y.stride else None
    return AxisInfo(x.size, stride, group, min(x.exact, y.exact), min(x.multiple, y.multiple))


# --- shapes: elements count in row-major order, but for `reshape` -----------------------------------------------------


def uniform(size: int, multiple: int) -> AxisInfo:
    """A block of equal elements."""
    return AxisInfo(size, 0, size, size, multiple)


def broadcast(x: AxisInfo, old: tuple[int, ...], new: tuple[int, ...]) -> AxisInfo:
    """A block of shape `old` repeated along axes of extent 1."""
    size = prod(new)
    if x.stride == 0 and x.group == x.size:
        return uniform(size, x.multiple)
    kept = _trailing(old, lambda axis: old[axis] == new[axis])
    if kept > 1:  # runs along the last axes stay
        x = regroup(x, kept)
        return AxisInfo(size, x.stride, x.group, x.exact, x.multiple)
    # Each element becomes a run of equal ones, and runs that are equal already get longer.
    axes = next((n for n, o in enumerate(reversed(old)) if o != 1), len(old))
    inner = old[: len(old) - axes]
    kept = _trailing(inner, lambda axis: inner[axis] == new[axis])
    equal = min(x.constant, kept)
    run = equal * prod(new[len(old) - axes :])
    return AxisInfo(size, 0, run, run, regroup(x, equal).multiple)


def reshape(x: AxisInfo, old: tuple[int, ...], new: tuple[int, ...]) -> AxisInfo:
    """A block in another shape, its elements counted in column-major order before and after: only axes of one element
    may come and go."""
    kept = [extent for extent in old if extent > 1] == [extent for extent in new if extent > 1]
    if kept or (x.stride == 0 and x.group == x.size):
        return x
    return AxisInfo(x.size, None, 1, 1, regroup(x, 1).multiple)


def transpose(x: AxisInfo, shape: tuple[int, ...], order: tuple[int, ...]) -> AxisInfo:
    """A block of `shape` whose axes change places."""
    moved = [axis for axis in order if shape[axis] > 1]
    if moved == sorted(moved) or (x.stride == 0 and x.group == x.size):
        return x
    return regroup(x, _trailing(shape, lambda axis: order[axis] == axis))


def _trailing(shape: tuple[int, ...], stays: Callable[[int], bool]) -> int:
    """The number of elements along the last axes that stay as they are."""
    count = 1
    for axis in reversed(range(len(shape))):
        if not stays(axis):
            break
        count *= shape[axis]
    return count
