"""How the elements of a block of integers or pointers follow each other: stride, contiguity, divisibility.

Integers wrap, so `x + arange(0, 256)` need not be consecutive: it may jump from 2**31 - 1 to -2**31 somewhere. What is
reported holds for every input. Blocks of any rank are runs of elements in one order: `base + rows[:, None] * n +
cols[None, :]` is consecutive in runs as long as `cols` where the last axis counts fastest (row-major), and
`base + rows[:, None] + cols[None, :] * n` in runs as long as `rows` where the first does (column-major).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mytriton.analysis import runs
from mytriton.analysis.dataflow import Forward
from mytriton.analysis.ranges import Range, full_range, no_overflow, value_ranges
from mytriton.analysis.runs import ANY_POWER as ANY_POWER
from mytriton.analysis.runs import AxisInfo as AxisInfo
from mytriton.analysis.runs import power_dividing, regroup, size_of, unknown
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.layout.ops import Convert
from mytriton.target import Target
from mytriton.types import PointerType, ScalarType, Type, element_of, i64, is_float, is_integer, shape_of


class _Axis(Forward[AxisInfo]):
    def __init__(self, func: Func, ranges: Mapping[Value, Range], columns: bool) -> None:
        super().__init__()
        self.func, self.ranges, self.columns = func, ranges, columns
        self.constants: dict[Value, int] = {}

    def tracks(self, value: Value) -> bool:
        return not is_float(value.type)

    def unknown(self, value: Value) -> AxisInfo:
        return unknown(value)

    def parameter(self, value: Value) -> AxisInfo:
        known = self.func.info.get(value.id)
        multiple = 16 if known is not None and known.divisible_by_16 else 1
        if isinstance(value.type, PointerType):
            multiple = max(1, multiple // value.type.element.bytes)
        return unknown(value, multiple)

    def induction(self, op: ops.For) -> AxisInfo:
        return unknown(op.induction, min(self.facts[op.lower].multiple, self.facts[op.step].multiple))

    def join(self, x: AxisInfo, y: AxisInfo) -> AxisInfo:
        return runs.join(x, y)

    def transfer(self, op: Op) -> AxisInfo:
        size = size_of(op.result)
        x = [self.facts[v] for v in op.operands if v in self.facts]
        if len(x) != len(op.operands):  # one of them is a float
            return unknown(op.result)
        match op:
            case ops.Constant(value=int() as number):
                self.constants[op.result] = number
                return AxisInfo(1, 0, 1, 1, power_dividing(number))
            case ops.Splat():
                if op.source in self.constants:
                    self.constants[op.result] = self.constants[op.source]
                return runs.uniform(size, x[0].multiple)
            case ops.Arange():
                return AxisInfo(size, 1, size, size, power_dividing(op.start))
            case ops.Add() | ops.Sub() | ops.Mul():
                return self._combine(op, x[0], x[1])
            case ops.AddPtr():
                return _address(op, x[0], x[1])
            case ops.Cast():
                return self._cast(op, op.to, x[0])
            case ops.Bitcast(to=PointerType() as to):
                return _bitcast(op, to, x[0])
            case ops.Bitcast(to=ScalarType() as to):
                return self._cast(op, to, x[0])
            case ops.Shl():
                return self._shift_left(op, x[0], x[1])
            case ops.Mod() if is_integer(op.result.type):
                return self._remainder(op, x[0], x[1])
            case ops.Select():
                return _select(x[0], x[1], x[2])
            case Convert():
                return x[0]
            case ops.Reshape() | ops.Broadcast() | ops.Transpose():
                return self._view(op, x[0])
            case ops.CmpLt() | ops.CmpGe() if x[0].contiguous > 1:
                return _ordered(x[0], x[1])
            case ops.CmpGt() | ops.CmpLe() if x[1].contiguous > 1:
                return _ordered(x[1], x[0])
            case ops.Unary() | ops.Binary() | ops.Compare():
                return _constant_or_unknown(op, x)
        return unknown(op.result)

    def _view(self, op: ops.Reshape | ops.Broadcast | ops.Transpose, x: AxisInfo) -> AxisInfo:
        """The runs of a block that is looked at in another shape. In column-major order they are those of the block
        whose axes are the other way round."""
        old, new = shape_of(op.source.type), shape_of(op.result.type)
        if isinstance(op, ops.Reshape):
            return runs.reshape(x, old, new) if self.columns else x
        if isinstance(op, ops.Broadcast):
            return runs.broadcast(x, old[::-1], new[::-1]) if self.columns else runs.broadcast(x, old, new)
        if not self.columns:
            return runs.transpose(x, old, op.order)
        return runs.transpose(x, old[::-1], tuple(len(old) - 1 - axis for axis in reversed(op.order)))

    def _linear(self, op: Op, stride: int, group: int, multiple: int, exact: int) -> AxisInfo:
        """The result of integer arithmetic on operands that are exact in groups of `exact`."""
        if not no_overflow(op, self.ranges):
            exact = _exact_group(stride, group, multiple, op.result.type)
        return AxisInfo(size_of(op.result), stride, group, exact, multiple)

    def _combine(self, op: Op, x: AxisInfo, y: AxisInfo) -> AxisInfo:
        """Addition, subtraction and multiplication."""
        group = min(x.group, y.group)
        x, y = regroup(x, group), regroup(y, group)
        exact = min(x.exact, y.exact)
        if x.stride is not None and y.stride is not None:
            match op:
                case ops.Add():
                    return self._linear(op, x.stride + y.stride, group, min(x.multiple, y.multiple), exact)
                case ops.Sub():
                    return self._linear(op, x.stride - y.stride, group, min(x.multiple, y.multiple), exact)
                case ops.Mul() if x.stride == y.stride == 0:
                    return self._linear(op, 0, group, _product(x, y), exact)
                case ops.Mul(lhs=lhs, rhs=rhs):
                    for factor, other in ((lhs, y), (rhs, x)):
                        if factor in self.constants and other.stride is not None:
                            return self._linear(op, other.stride * self.constants[factor], group, _product(x, y), exact)
        x, y = regroup(x, 1), regroup(y, 1)
        return unknown(op.result, _product(x, y) if isinstance(op, ops.Mul) else min(x.multiple, y.multiple))

    def _cast(self, op: ops.Cast | ops.Bitcast, to: ScalarType, source: AxisInfo) -> AxisInfo:
        old = element_of(op.source.type)
        if not isinstance(old, ScalarType) or not is_integer(op.source.type) or not is_integer(op.result.type):
            return _constant_or_unknown(op, [source])
        if to.bits > old.bits:  # a place where the narrower type wrapped is a jump now
            source = regroup(source, source.exact)
        if source.stride is None or self.ranges[op.source].within(full_range(to)):
            return source
        return replace(source, exact=_exact_group(source.stride, source.group, source.multiple, to))

    def _shift_left(self, op: ops.Shl, x: AxisInfo, y: AxisInfo) -> AxisInfo:
        """A multiplication by a power of two, if the amount is a constant below the width."""
        amount, element = self.constants.get(op.rhs, -1), element_of(op.result.type)
        assert isinstance(element, ScalarType)
        if x.stride is None or not 0 <= amount < element.bits:
            return _constant_or_unknown(op, [x, y])
        stride, multiple = x.stride << amount, min(x.multiple << amount, ANY_POWER)
        exact = x.exact
        if self.ranges[op.lhs].low << amount < element.low or self.ranges[op.lhs].high << amount > element.high:
            exact = _exact_group(stride, x.group, multiple, op.result.type)
        return AxisInfo(x.size, stride, x.group, exact, multiple)

    def _remainder(self, op: ops.Mod, x: AxisInfo, y: AxisInfo) -> AxisInfo:
        """A group that begins at a multiple of its length passes no multiple of the divisor, if that is one of it, too.
        But for negative numbers, whose remainder is negative: numbers that may be anything are taken for places, which
        are not, as Triton takes them; those known to go below 0 are not."""
        element, low = element_of(op.result.type), self.ranges[op.lhs].low
        assert isinstance(element, ScalarType)
        if x.stride is None or x.stride < 0 or y.stride != 0 or element.low < low < 0:
            return _constant_or_unknown(op, [x, y])
        group = min(x.exact, y.exact)
        while group > 1 and min(regroup(x, group).multiple, y.multiple) < x.stride * group:
            group //= 2
        multiple = min(regroup(x, group).multiple, y.multiple)
        return AxisInfo(x.size, x.stride if group > 1 or x.size == 1 else None, group, group, multiple)


def _exact_group(stride: int, group: int, multiple: int, type_: Type) -> int:
    """The largest group that cannot wrap: types wrap at a multiple of every power of two up to that of their width, so
    values do not if a group stays between two multiples of a power that divides its first value."""
    if stride == 0:
        return group
    element = element_of(type_)
    assert isinstance(element, ScalarType)
    while group > 1:
        start = min(multiple, power_dividing(stride * group), element.high + 1)
        if 0 < stride * (group - 1) < start:
            return group
        group //= 2
    return 1


def _product(x: AxisInfo, y: AxisInfo) -> int:
    return min(x.multiple * y.multiple, ANY_POWER)


def _address(op: ops.AddPtr, pointer: AxisInfo, offset: AxisInfo) -> AxisInfo:
    # The offset is sign-extended, so a place where it wraps is a jump of the address.
    if element_of(op.offset.type) != i64:
        offset = regroup(offset, offset.exact)
    known = pointer.stride is not None and offset.stride is not None
    group = min(pointer.group, offset.group) if known else 1
    pointer, offset = regroup(pointer, group), regroup(offset, group)
    stride = (pointer.stride or 0) + (offset.stride or 0) if known else None
    return AxisInfo(pointer.size, stride, group, group, min(pointer.multiple, offset.multiple))


def _constant_or_unknown(op: Op, operands: list[AxisInfo]) -> AxisInfo:
    """Any elementwise operation: constant where all its operands are."""
    constant = min((o.constant for o in operands), default=1)
    if constant > 1 and all(o.stride == 0 for o in operands):
        return AxisInfo(size_of(op.result), 0, constant, constant, 1)
    return unknown(op.result)


def _select(condition: AxisInfo, x: AxisInfo, y: AxisInfo) -> AxisInfo:
    # A condition that changes inside a group mixes the two, even where both go on in step.
    return regroup(runs.join(x, y), condition.constant)


def _bitcast(op: ops.Bitcast, to: PointerType, x: AxisInfo) -> AxisInfo:
    """Addresses, counted in elements of another size."""
    old = element_of(op.source.type)
    bytes_, new = old.element.bytes if isinstance(old, PointerType) else 1, to.element.bytes
    if x.stride is None or x.stride * bytes_ % new:
        x = replace(regroup(x, 1), stride=None)
    stride = None if x.stride is None else x.stride * bytes_ // new
    return replace(x, stride=stride, multiple=max(1, min(x.multiple * bytes_, ANY_POWER) // new))


def _ordered(x: AxisInfo, y: AxisInfo) -> AxisInfo:
    """`x < y` or `x >= y`. Where x runs through a group of consecutive values that starts at a multiple of its size,
    and y is one multiple of that size, no y lies inside the group: the answer is one for all of it."""
    group = min(x.contiguous, x.divisible, y.constant, regroup(y, y.constant).multiple)
    return AxisInfo(x.size, 0, group, group, 1)


def axis_info(func: Func, ranges: Mapping[Value, Range] | None = None, columns: bool = False) -> dict[Value, AxisInfo]:
    """What is known of every integer, bool and pointer value, in row-major order or by `columns`. `ranges` are
    `value_ranges` of the target in use; without them the largest grid is assumed, which holds for every target."""
    return _Axis(func, value_ranges(func, Target()) if ranges is None else ranges, columns).run(func)
