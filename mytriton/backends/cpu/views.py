"""Where the elements of one block are in another: reshaped, broadcast or transposed blocks are read, never made.

Extents are powers of two, so this is a matter of bits: bit j of a row-major position in the source is bit `view[j]` of
the position that a loop is at. Bits that no entry names are those along which the source repeats.
"""

from __future__ import annotations

from collections.abc import Iterator

from mytriton.analysis.runs import size_of
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.types import shape_of

View = tuple[int, ...]


def log2(size: int) -> int:
    """The exponent of a power of two."""
    return size.bit_length() - 1


def identity(value: Value) -> View:
    """The view of a block in a loop over it."""
    return tuple(range(log2(size_of(value))))


def view_through(op: Op | None) -> tuple[Value, View] | None:
    """The block that an operation only moves the elements of, and where they come from; None for other operations,
    and for those that make a block of a scalar or a scalar of a block."""
    if not isinstance(op, (ops.Reshape, ops.Broadcast, ops.Transpose, ops.Reduce)):
        return None
    old, new = shape_of(op.source.type), shape_of(op.result.type)
    if not old or not new:
        return None
    if isinstance(op, ops.Broadcast):
        axes = [bits if extent > 1 else () for extent, bits in zip(old, _axis_bits(new), strict=True)]
    elif isinstance(op, ops.Transpose):
        bits = _axis_bits(new)
        axes = [bits[op.order.index(axis)] for axis in range(len(old))]
    elif isinstance(op, ops.Reshape) or old[op.axis] == 1:
        return op.source, identity(op.source)
    else:
        return None
    return op.source, tuple(bit for axis in reversed(axes) for bit in axis)


def _axis_bits(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The bits of a position that count along each axis, lowest first."""
    found: list[tuple[int, ...]] = []
    start = 0
    for extent in reversed(shape):
        found.append(tuple(range(start, start + log2(extent))))
        start += log2(extent)
    return found[::-1]


def compose(inner: View, outer: View) -> View:
    """The view of a source in a loop, from its view in a block and that block's view in the loop."""
    return tuple(outer[bit] for bit in inner)


def repeated(view: View, bits: int) -> int:
    """How many low bits of the position, of `bits`, change nothing."""
    return min(view, default=bits)


def in_step(view: View, start: int, most: int) -> int:
    """How many of the source's low bits, at most `most`, are the position's from `start` on, in order."""
    count = 0
    while count < min(most, len(view)) and view[count] == start + count:
        count += 1
    return count


def pieces(view: View, lowest: int) -> Iterator[tuple[int, int, int]]:
    """(first bit in the source, first bit of the position, number of bits) of what comes from bits `lowest` on."""
    bit = 0
    while bit < len(view):
        count = 1
        if view[bit] >= lowest:
            while bit + count < len(view) and view[bit + count] == view[bit] + count:
                count += 1
            yield bit, view[bit], count
        bit += count


def lane_positions(view: View, width: int) -> list[int]:
    """Where each of `width` lanes of an aligned chunk is in the source, from where the first one is."""
    return [sum((lane >> at & 1) << bit for bit, at in enumerate(view) if at < log2(width)) for lane in range(width)]
