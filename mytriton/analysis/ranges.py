"""Integer ranges of values, for proofs that an operation cannot overflow. Exact under wrap-around: an interval that
does not fit the type becomes the type's full range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.target import MAX_GRID_YZ, Target
from mytriton.types import ScalarType, Type, element_of, is_bool, is_integer


@dataclass(frozen=True, slots=True)
class Range:
    """All integers from `low` to `high`, both included."""

    low: int
    high: int

    def within(self, other: Range) -> bool:
        """Whether every integer of this range is in `other`."""
        return other.low <= self.low and self.high <= other.high

    def hull(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


_BOOL = Range(0, 1)


def full_range(type_: Type) -> Range:
    """Every value of an integer or bool element type."""
    element = element_of(type_)
    assert isinstance(element, ScalarType)
    return _BOOL if element.kind == "bool" else Range(element.low, element.high)


def _corners(function: Callable[[int, int], int], x: Range, y: Range) -> Range:
    values = [function(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    return Range(min(values), max(values))


def _truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _mod(x: Range, y: Range) -> Range | None:
    largest = max(abs(y.low), abs(y.high)) - 1
    if y.low <= 0 <= y.high:
        return None
    return Range(max(x.low, -largest) if x.low < 0 else 0, min(x.high, largest) if x.high > 0 else 0)


def _and(x: Range, y: Range) -> Range | None:
    highs = [r.high for r in (x, y) if r.low >= 0]
    return Range(0, min(highs)) if highs else None


def _or(x: Range, y: Range) -> Range | None:
    if x.low < 0 or y.low < 0:
        return None
    return Range(0, (1 << max(x.high, y.high).bit_length()) - 1)


def _shl(x: Range, y: Range, bits: int) -> Range | None:
    return _corners(lambda a, b: a << b, x, y) if y.low >= 0 and y.high < bits else None


def _shr(x: Range, y: Range, bits: int) -> Range:
    # An amount counts as unsigned, and shifting by the width is shifting by more.
    amount = Range(0, bits) if y.low < 0 else Range(min(y.low, bits), min(y.high, bits))
    return _corners(lambda a, b: a >> b, x, amount)


def _abs(x: Range) -> Range:
    return Range(0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high)), max(abs(x.low), abs(x.high)))


#: The exact result in unbounded integers, from the operands' ranges; None if nothing is known.
_EXACT: dict[type[Op], Callable[..., Range | None]] = {
    ops.Add: lambda x, y: Range(x.low + y.low, x.high + y.high),
    ops.Sub: lambda x, y: Range(x.low - y.high, x.high - y.low),
    ops.Mul: lambda x, y: _corners(lambda a, b: a * b, x, y),
    ops.FloorDiv: lambda x, y: None if y.low <= 0 <= y.high else _corners(_truncated, x, y),
    ops.Mod: _mod,
    ops.And: _and,
    ops.Or: _or,
    ops.Xor: _or,
    ops.Neg: lambda x: Range(-x.high, -x.low),
    ops.Abs: _abs,
    ops.Maximum: lambda x, y: Range(max(x.low, y.low), max(x.high, y.high)),
    ops.Minimum: lambda x, y: Range(min(x.low, y.low), min(x.high, y.high)),
    ops.Splat: lambda x: x,
    ops.Cast: lambda x: x,
}


def _exact(op: Op, ranges: Mapping[Value, Range], target: Target) -> Range | None:
    match op:
        case ops.Constant():
            return Range(int(op.value), int(op.value))
        case ops.ProgramId():
            return Range(0, (target.max_programs if op.axis == 0 else MAX_GRID_YZ) - 1)
        case ops.NumPrograms():
            return Range(1, target.max_programs if op.axis == 0 else MAX_GRID_YZ)
        case ops.Arange():
            return Range(op.start, op.end - 1)
        case ops.Select():
            return ranges[op.if_true].hull(ranges[op.if_false])
        case ops.Shl() | ops.Shr():
            element = element_of(op.result.type)
            assert isinstance(element, ScalarType)
            function = _shl if isinstance(op, ops.Shl) else _shr
            return function(ranges[op.lhs], ranges[op.rhs], element.bits)
    return _arithmetic(op, ranges)


def _arithmetic(op: Op, ranges: Mapping[Value, Range]) -> Range | None:
    function = _EXACT.get(type(op))
    if function is None or not all(v in ranges for v in op.operands):
        return None
    return function(*(ranges[v] for v in op.operands))


def value_ranges(func: Func, target: Target) -> dict[Value, Range]:
    """A range for every integer and bool value, scalar or block; arguments and loaded values have their full range."""
    ranges = {p: full_range(p.type) for p in func.params if _has_range(p)}
    for op in func.walk():
        for block in op.regions:
            ranges.update((p, full_range(p.type)) for p in block.params if _has_range(p))
        for value in op.results:
            if not _has_range(value):
                continue
            full = full_range(value.type)
            # A cast to bool is `!= 0`, not a wrap, but [0, 1] is right for it too.
            exact = _exact(op, ranges, target)
            ranges[value] = exact if exact is not None and exact.within(full) else full
    return ranges


def _has_range(value: Value) -> bool:
    return is_integer(value.type) or is_bool(value.type)


def no_overflow(op: Op, ranges: Mapping[Value, Range]) -> bool:
    """Whether an integer `+`, `-`, `*`, negation or abs, signed or not, provably gives the exact result, without
    wrapping."""
    if not isinstance(op, (ops.Add, ops.Sub, ops.Mul, ops.Neg, ops.Abs)) or not is_integer(op.result.type):
        return False
    exact = _arithmetic(op, ranges)
    return exact is not None and exact.within(full_range(op.result.type))
