"""How the elements of a 1-D block of integers or pointers follow each other: stride, contiguity, divisibility.

Integers wrap, so `x + arange(0, 256)` need not be consecutive: it may jump from 2**31 - 1 to -2**31 somewhere. What is
reported as contiguous holds for every input; `contiguous_unless_wrap` needs a check at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mytriton.analysis.ranges import Range, full_range, no_overflow, value_ranges
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.target import Target
from mytriton.types import PointerType, ScalarType, Type, element_of, i64, is_float, is_integer, is_pointer, shape_of

#: Stands for "divisible by every power of two": zero.
ANY_POWER = 1 << 64


@dataclass(frozen=True, slots=True)
class AxisInfo:
    """What is known of a block v of `size` elements (a scalar has size 1). Pointers count in elements, by address.

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

    @property
    def contiguous_unless_wrap(self) -> int:
        """What `contiguous` is if no integer operation of this launch wraps. A sufficient check at run time: the last
        value minus the first, without wrapping, is size - 1."""
        return self.size if self.stride == 1 else 1


def _power_dividing(number: int) -> int:
    return number & -number if number else ANY_POWER


def regroup(info: AxisInfo, group: int) -> AxisInfo:
    """The same block, described in smaller groups."""
    if group >= info.group:
        return info
    step = _power_dividing((info.stride or 0) * group)
    return AxisInfo(info.size, info.stride, group, min(info.exact, group), min(info.multiple, step))


def _unknown(value: Value, multiple: int = 1) -> AxisInfo:
    size = _size(value)
    return AxisInfo(size, 0 if size == 1 else None, 1, 1, multiple)


def _size(value: Value) -> int:
    shape = shape_of(value.type)
    return shape[0] if len(shape) == 1 else 1


def _exact_group(stride: int, group: int, multiple: int, type_: Type) -> int:
    """The largest group that cannot wrap: types wrap at a multiple of every power of two up to that of their width, so
    values do not if a group stays between two multiples of a power that divides its first value."""
    if stride == 0:
        return group
    element = element_of(type_)
    assert isinstance(element, ScalarType)
    while group > 1:
        start = min(multiple, _power_dividing(stride * group), element.high + 1)
        if 0 < stride * (group - 1) < start:
            return group
        group //= 2
    return 1


def _may_cancel(x: AxisInfo, y: AxisInfo) -> bool:
    """Whether jumps inside both blocks might cancel from end to end, and so escape the check at run time."""
    return x.group < x.size and y.group < y.size and 0 not in (x.stride, y.stride)


def _linear(op: Op, stride: int, group: int, multiple: int, exact: int, ranges: Mapping[Value, Range]) -> AxisInfo:
    """The result of integer arithmetic on operands that are exact in groups of `exact`."""
    if not no_overflow(op, ranges):
        exact = _exact_group(stride, group, multiple, op.result.type)
    return AxisInfo(_size(op.result), stride, group, exact, multiple)


def _combine(
    op: Op, x: AxisInfo, y: AxisInfo, ranges: Mapping[Value, Range], constants: Mapping[Value, int]
) -> AxisInfo:
    """Addition, subtraction and multiplication."""
    cancel = _may_cancel(x, y)
    group = min(x.group, y.group)
    x, y = regroup(x, group), regroup(y, group)
    exact = min(x.exact, y.exact)
    if x.stride is not None and y.stride is not None and not cancel:
        match op:
            case ops.Add():
                return _linear(op, x.stride + y.stride, group, min(x.multiple, y.multiple), exact, ranges)
            case ops.Sub():
                return _linear(op, x.stride - y.stride, group, min(x.multiple, y.multiple), exact, ranges)
            case ops.Mul() if x.stride == y.stride == 0:
                return _linear(op, 0, group, _product(x, y), exact, ranges)
            case ops.Mul(lhs=lhs, rhs=rhs):
                for factor, other in ((lhs, y), (rhs, x)):
                    if factor in constants and other.stride is not None:
                        return _linear(op, other.stride * constants[factor], group, _product(x, y), exact, ranges)
    x, y = regroup(x, 1), regroup(y, 1)
    return _unknown(op.result, _product(x, y) if isinstance(op, ops.Mul) else min(x.multiple, y.multiple))


def _product(x: AxisInfo, y: AxisInfo) -> int:
    return min(x.multiple * y.multiple, ANY_POWER)


def _address(op: ops.AddPtr, pointer: AxisInfo, offset: AxisInfo) -> AxisInfo:
    # The offset is sign-extended, so a place where it wraps is a jump of the address.
    if element_of(op.offset.type) != i64:
        offset = regroup(offset, offset.exact)
    known = pointer.stride is not None and offset.stride is not None and not _may_cancel(pointer, offset)
    group = min(pointer.group, offset.group) if known else 1
    pointer, offset = regroup(pointer, group), regroup(offset, group)
    stride = (pointer.stride or 0) + (offset.stride or 0) if known else None
    return AxisInfo(pointer.size, stride, group, group, min(pointer.multiple, offset.multiple))


def _cast(op: ops.Cast, source: AxisInfo, ranges: Mapping[Value, Range]) -> AxisInfo:
    old = element_of(op.source.type)
    if not isinstance(old, ScalarType) or not is_integer(op.source.type) or not is_integer(op.result.type):
        return _constant_or_unknown(op, [source])
    if op.to.bits > old.bits:  # a place where the narrower type wrapped is a jump now
        source = regroup(source, source.exact)
    if source.stride is None or ranges[op.source].within(full_range(op.to)):
        return source
    return replace(source, exact=_exact_group(source.stride, source.group, source.multiple, op.to))


def _shift_left(
    op: ops.Shl, x: AxisInfo, y: AxisInfo, ranges: Mapping[Value, Range], constants: Mapping[Value, int]
) -> AxisInfo:
    """A multiplication by a power of two, if the amount is a constant below the width."""
    amount, element = constants.get(op.rhs, -1), element_of(op.result.type)
    assert isinstance(element, ScalarType)
    if x.stride is None or not 0 <= amount < element.bits:
        return _constant_or_unknown(op, [x, y])
    stride, multiple = x.stride << amount, min(x.multiple << amount, ANY_POWER)
    exact = x.exact
    if ranges[op.lhs].low << amount < element.low or ranges[op.lhs].high << amount > element.high:
        exact = _exact_group(stride, x.group, multiple, op.result.type)
    return AxisInfo(x.size, stride, x.group, exact, multiple)


def _constant_or_unknown(op: Op, operands: list[AxisInfo]) -> AxisInfo:
    """Any elementwise operation: constant where all its operands are."""
    constant = min((o.constant for o in operands), default=1)
    if constant > 1 and all(o.stride == 0 for o in operands):
        return AxisInfo(_size(op.result), 0, constant, constant, 1)
    return _unknown(op.result)


def _select(op: ops.Select, condition: AxisInfo, x: AxisInfo, y: AxisInfo) -> AxisInfo:
    # A condition that changes inside the block mixes the two, even where both go on in step.
    known = condition.constant == x.size and x.stride == y.stride
    group = min(x.group, y.group) if known else 1
    x, y = regroup(x, group), regroup(y, group)
    multiple = min(x.multiple, y.multiple)
    if not known:
        return _unknown(op.result, multiple)
    return AxisInfo(x.size, x.stride, group, min(x.exact, y.exact), multiple)


def _ordered(x: AxisInfo, y: AxisInfo) -> AxisInfo:
    """`x < y` or `x >= y`. Where x runs through a group of consecutive values that starts at a multiple of its size,
    and y is one multiple of that size, no y lies inside the group: the answer is one for all of it."""
    group = min(x.contiguous, x.divisible, y.constant, regroup(y, y.constant).multiple)
    return AxisInfo(x.size, 0, group, group, 1)


def axis_info(func: Func, ranges: Mapping[Value, Range] | None = None) -> dict[Value, AxisInfo]:
    """What is known of every integer, bool and pointer value. `ranges` are `value_ranges` of the target in use; without
    them the largest grid is assumed, which holds for every target."""
    if ranges is None:
        ranges = value_ranges(func, Target())
    found: dict[Value, AxisInfo] = {}
    constants: dict[Value, int] = {}
    for param in func.params:
        if is_float(param.type):
            continue
        divisible = func.info[param.id].divisible_by_16 if param.id in func.info else False
        multiple = 16 if divisible else 1
        if isinstance(param.type, PointerType):
            multiple = max(1, multiple // param.type.element.bytes)
        found[param] = _unknown(param, multiple)
    for op in func.walk():
        for block in op.regions:
            found.update((p, _unknown(p)) for p in block.params if not is_float(p.type))
        results = [v for v in op.results if not is_float(v.type)]
        operands = [found[v] for v in op.operands if v in found]
        if len(results) == len(op.results) == 1 and len(operands) == len(op.operands):
            found[results[0]] = _transfer(op, operands, ranges, constants)
        else:
            found.update((v, _unknown(v)) for v in results)
    return found


def _transfer(op: Op, x: list[AxisInfo], ranges: Mapping[Value, Range], constants: dict[Value, int]) -> AxisInfo:
    size = _size(op.result)
    match op:
        case ops.Constant(value=int() as number):
            constants[op.result] = number
            return AxisInfo(1, 0, 1, 1, _power_dividing(number))
        case ops.Splat():
            if op.source in constants:
                constants[op.result] = constants[op.source]
            return AxisInfo(size, 0, size, size, x[0].multiple)
        case ops.Arange():
            return AxisInfo(size, 1, size, size, _power_dividing(op.start))
        case ops.Add() | ops.Sub() | ops.Mul():
            return _combine(op, x[0], x[1], ranges, constants)
        case ops.AddPtr():
            return _address(op, x[0], x[1])
        case ops.Cast():
            return _cast(op, x[0], ranges)
        case ops.Shl():
            return _shift_left(op, x[0], x[1], ranges, constants)
        case ops.CmpLt() | ops.CmpGe() if x[0].contiguous > 1:
            return _ordered(x[0], x[1])
        case ops.CmpGt() | ops.CmpLe() if x[1].contiguous > 1:
            return _ordered(x[1], x[0])
        case ops.Select():
            return _select(op, x[0], x[1], x[2])
        case ops.Load() | ops.ProgramId() | ops.NumPrograms():
            return _unknown(op.result)
    return _constant_or_unknown(op, x) if not is_pointer(op.result.type) and not op.regions else _unknown(op.result)
