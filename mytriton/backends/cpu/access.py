"""Which elements of blocks follow each other, so that a vector load or store can stand for a gather.

A group of elements is *contiguous* if each is the one before it plus 1 (for pointers: plus one element), in the
wrapping arithmetic of its type. An i32 offset may wrap in the middle of a group; extended to 64 bits it then jumps.
Where that cannot be excluded, the analysis names the offset as a *guard*, to be tested at run time (`guards.py`).
`analysis/axis.py` proves most offsets to need none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mytriton.analysis.axis import AxisInfo, axis_info
from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.views import in_step, log2, repeated, view_through
from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.records import dataclass
from mytriton.types import BlockType, PointerType, ScalarType, element_of, i32, i64, is_integer, shape_of


@dataclass(frozen=True, slots=True)
class Groups:
    """Powers of two: in every aligned group of `constant` elements all are equal, in every one of `contiguous` they
    are contiguous, provided that no value of `guards` (blocks of i32) wraps within such a group."""

    constant: int = 1
    contiguous: int = 1
    guards: tuple[Value, ...] = ()


_UNKNOWN = Groups()


def element_groups(func: Func) -> Mapping[Value, Groups]:
    """What is known of each block."""
    analysis = _Analysis(axis_info(func))
    analysis.block(func.body)
    return analysis.found


class _Analysis:
    def __init__(self, axes: Mapping[Value, AxisInfo]) -> None:
        self.axes = axes
        self.found: dict[Value, Groups] = {}
        self.boundable: set[Value] = set()  # made of ranges and scalars by +, - and *, so that its size is known

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.regions:
                self._structured(op)
            elif op.results and isinstance(op.result.type, BlockType):
                self.found[op.result] = self._step(op)
                if _is_linear(op) and all(v in self.boundable or not shape_of(v.type) for v in op.operands):
                    self.boundable.add(op.result)

    # --- structured operations: what holds of every value that is handed on ---

    def _structured(self, op: Op) -> None:
        outside = set(self.found)
        match op:
            case ops.If():
                self.block(op.then)
                self.block(op.orelse)
                ends = [[self._of(v, outside) for v in yielded(b)] for b in (op.then, op.orelse)]
                self._assign(op.results, [_meet(a, b) for a, b in zip(*ends, strict=True)])
            case ops.For():
                self._loop(op, op.initial, (op.carried,), op.body, outside)
            case ops.While():
                self._loop(op, op.initial, (op.condition.params, op.body.params), op.body, outside)

    def _loop(
        self, op: Op, initial: Sequence[Value], params: Sequence[Sequence[Value]], body: Block, outside: set[Value]
    ) -> None:
        """Supposes of the carried values what holds of the first ones, and less until a trip keeps it."""
        state = [self._of(v, outside) for v in initial]
        while True:
            for names in params:
                self._assign(names, state)
            for block in op.regions:
                self.block(block)
            after = [_meet(a, self._of(v, outside)) for a, v in zip(state, yielded(body), strict=True)]
            if after == state:
                break
            state = after
        self._assign(op.results, state)

    def _of(self, value: Value, outside: set[Value]) -> Groups:
        """What is known of a value, unless only with guards that are not visible outside."""
        known = self.found.get(value, _UNKNOWN)
        return known if all(g in outside for g in known.guards) else Groups(known.constant)

    def _assign(self, values: Sequence[Value], known: Sequence[Groups]) -> None:
        self.found.update((v, k) for v, k in zip(values, known, strict=True) if isinstance(v.type, BlockType))

    # --- single operations ---

    def _step(self, op: Op) -> Groups:
        size = size_of(op.result)
        through = view_through(op)
        if through is not None:
            return _viewed(self.found[through[0]], through[1], log2(size))
        operands = [self.found.get(v, Groups(constant=size)) for v in op.operands]  # a scalar is the same throughout
        constant = min((k.constant for k in operands), default=1)
        match op:
            case ops.Arange():
                return Groups(1, size)
            case ops.Splat() | ops.Reshape():
                return Groups(size)
            case ops.Add() if is_integer(op.result.type):
                return _sum(constant, *operands)
            case ops.Sub() if is_integer(op.result.type):
                first, second = operands
                return Groups(constant, min(first.contiguous, second.constant), first.guards)
            case ops.Cast() if is_integer(op.source.type) and is_integer(op.result.type):
                return self._cast(op, operands[0])
            case ops.Bitcast():
                same = _bytes(op.source) == _bytes(op.result)
                return operands[0] if same else Groups(constant)
            case ops.AddPtr():
                offset = operands[1]
                wide = self._extended(op.offset, offset) if element_of(op.offset.type) == i32 else offset
                return _sum(constant, operands[0], Groups(offset.constant, wide.contiguous, wide.guards))
        pure = isinstance(op, (ops.Unary, ops.Binary, ops.Fma, ops.Compare, ops.Select, ops.Cast))
        return Groups(constant) if pure else _UNKNOWN

    def _cast(self, op: ops.Cast, known: Groups) -> Groups:
        old = element_of(op.source.type)
        assert isinstance(old, ScalarType)
        if op.to.bits <= old.bits:
            return known
        return self._extended(op.source, known) if (old, op.to) == (i32, i64) else Groups(known.constant)

    def _extended(self, value: Value, known: Groups) -> Groups:
        """What holds of an i32 block extended to 64 bits."""
        size = size_of(value)
        if known.contiguous == 1 or self.axes[value].contiguous == size:
            return known
        if known.contiguous == size or value in self.boundable:
            return Groups(known.constant, known.contiguous, (*known.guards, value))
        return Groups(known.constant)


def _bytes(value: Value) -> int:
    element = element_of(value.type)
    return element.element.bytes if isinstance(element, PointerType) else 0


def _is_linear(op: Op) -> bool:
    known = isinstance(op, (ops.Arange, ops.Splat, ops.Reshape, ops.Broadcast, ops.Transpose))
    return known or (isinstance(op, (ops.Add, ops.Sub, ops.Mul)) and element_of(op.result.type) == i32)


def _viewed(known: Groups, view: tuple[int, ...], bits: int) -> Groups:
    same = repeated(view, bits)
    constant = 1 << same + in_step(view, same, log2(known.constant))
    return Groups(constant, 1 << in_step(view, 0, log2(known.contiguous)), known.guards)


def _sum(constant: int, x: Groups, y: Groups) -> Groups:
    """Of a contiguous and a constant group; whichever way gives the larger one."""
    length, other = (min(a.contiguous, b.constant) for a, b in ((x, y), (y, x)))
    return Groups(constant, length, x.guards) if length >= other else Groups(constant, other, y.guards)


def _meet(x: Groups, y: Groups) -> Groups:
    guards = tuple(dict.fromkeys((*x.guards, *y.guards)))
    return Groups(min(x.constant, y.constant), min(x.contiguous, y.contiguous), guards)
