"""How operands of different shapes meet: scalars splat, missing leading axes are added, axes of extent 1 repeat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from math import prod

from mytriton.frontend.findings import Findings
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.values import Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import shape_of

#: A block may have this many elements at most, as in Triton.
MAX_ELEMENTS = 2**20

Shape = tuple[int, ...]


class Broadcasting(Findings):
    """Findings, and the builder whose values are brought to one shape."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.builder = Builder()

    def same_shape(self, values: Sequence[Value], operands: Sequence[Operand], span: Span) -> list[Value]:
        """The values in the shape they all broadcast to; scalars if all are."""
        shapes = {shape_of(v.type) for v in values}
        if len(shapes) == 1:
            return list(values)
        blocks = shapes - {()}
        if len(blocks) == 1:
            return [self.broadcast(v, *blocks) for v in values]
        for (one, first), (other, second) in combinations(zip(values, operands, strict=True), 2):
            ours, theirs = shape_of(one.type), shape_of(other.type)
            axis = _mismatch(ours, theirs)
            if axis is not None:
                rank = max(len(ours), len(theirs))
                pair = f"{self.describe(first)} and {self.describe(second)}"
                message = (
                    f"shapes do not match: {pair} have extents {ours[axis]} and {theirs[axis]} on axis {axis + rank}"
                )
                raise Mistake("MT204", message, span, self._axis_hint(first, second, ours, theirs))
        shape = reduce(joined, blocks)
        self.check_size(shape, span)
        return [self.broadcast(v, shape) for v in values]

    def _axis_hint(self, one: Operand, other: Operand, ours: Shape, theirs: Shape) -> str:
        a, b = (self.short(o) for o in (one, other))
        if len(ours) == len(theirs) == 1:
            return f"to combine each element of one with each of the other: {a}[:, None] and {b}[None, :]"
        if len(ours) != len(theirs) and min(len(ours), len(theirs)) == 1:
            name, extent, larger = (a, ours[0], theirs) if len(ours) == 1 else (b, theirs[0], ours)
            fits = [n for n, other_extent in enumerate(larger) if other_extent == extent]
            if fits:
                index = ", ".join(":" if n == fits[0] else "None" for n in range(len(larger)))
                return f"say which axis it runs along: {name}[{index}]"
        return "extents must be equal, or one of them 1; missing axes are added in front"

    def short(self, operand: Operand) -> str:
        """The author's text where it can be indexed as it stands, else `x`."""
        text = self.text(operand.span)
        return text if text.isidentifier() else "x"

    def broadcast(self, value: Value, shape: Shape) -> Value:
        """The value in `shape`, to which its own is known to broadcast."""
        own = shape_of(value.type)
        if own == shape:
            return value
        if not own:
            return self.builder.splat(value, shape)
        value = self.reshape(value, (1,) * (len(shape) - len(own)) + own)
        return value if shape_of(value.type) == shape else self.builder.add(ops.Broadcast, source=value, shape=shape)

    def reshape(self, value: Value, shape: Shape) -> Value:
        """The value's elements in another shape of as many."""
        if shape_of(value.type) == shape:
            return value
        # A scalar becomes a block by a splat, whatever the block's rank: passes look for nothing else.
        if not shape_of(value.type):
            return self.builder.splat(value, shape)
        return self.builder.add(ops.Reshape, source=value, shape=shape)

    def check_size(self, shape: Shape, span: Span) -> None:
        """Refuses blocks that are too large."""
        if prod(shape) > MAX_ELEMENTS:
            extents = " x ".join(map(str, shape))
            message = f"a block has at most {MAX_ELEMENTS} elements, got {prod(shape)}"
            hint = "work through it in smaller blocks: more programs, or a loop"
            raise Mistake("MT220", message + (f" ({extents})" if len(shape) > 1 else ""), span, hint)


def joined(a: Shape, b: Shape) -> Shape:
    """The shape that two matching ones broadcast to."""
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    return tuple(n if m == 1 else m for m, n in pairs)


def _mismatch(a: Shape, b: Shape) -> int | None:
    """The first axis on which two shapes do not match, counted from the end (-1 is the last); None if they match."""
    for axis in range(-min(len(a), len(b)), 0):
        if a[axis] != b[axis] and 1 not in (a[axis], b[axis]):
            return axis
    return None
