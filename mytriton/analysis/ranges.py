"""Integer ranges of values, for proofs that an operation cannot overflow. Exact under wrap-around: an interval that
does not fit the type becomes the type's full range. So does what a loop carries, in the direction in which it grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mytriton.analysis.dataflow import Forward
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.records import dataclass
from mytriton.target import MAX_GRID_YZ, Target
from mytriton.types import ScalarType, Type, element_of, is_bool, is_integer, shape_of


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
    **dict.fromkeys(
        (ops.Splat, ops.Cast, ops.Bitcast, ops.Reshape, ops.Transpose, ops.Broadcast, ops.Pick, Convert), lambda x: x
    ),
}


def _reduced(combine: str, x: Range, count: int) -> Range | None:
    """`count` elements of one range, combined."""
    match combine:
        case "add":
            return Range(x.low * count, x.high * count)
        case "mul":
            return Range(min(x.low, 0), 1) if x.within(Range(-1, 1)) else None
        case "and":
            return _and(x, x)
        case "or" | "xor":
            return _or(x, x)
    return x


def _loop_range(lower: Range, upper: Range, step: Range) -> Range:
    """The values of a loop's variable; if no trip is possible, any range will do."""
    if step.low == step.high != 0 and lower.low == lower.high:  # it starts at one number, in equal steps
        start, size = lower.low, abs(step.low)
        if step.low > 0:
            return Range(start, start + max(0, (upper.high - 1 - start) // size) * size)
        return Range(start - max(0, (start - 1 - upper.low) // size) * size, start)
    up = Range(lower.low, max(lower.low, upper.high - 1))
    down = Range(min(lower.high, upper.low + 1), lower.high)
    return up if step.low > 0 else down if step.high < 0 else up.hull(down)


class _Ranges(Forward[Range]):
    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target

    def tracks(self, value: Value) -> bool:
        return is_integer(value.type) or is_bool(value.type)

    def unknown(self, value: Value) -> Range:
        return full_range(value.type)

    def transfer(self, op: Op) -> Range:
        exact, full = self._exact(op), full_range(op.result.type)
        # A cast to bool is `!= 0`, not a wrap, but [0, 1] is right for it too.
        return exact if exact is not None and exact.within(full) else full

    def induction(self, op: ops.For) -> Range:
        return _loop_range(*(self.facts[v] for v in (op.lower, op.upper, op.step)))

    def join(self, x: Range, y: Range) -> Range:
        return x.hull(y)

    def widen(self, value: Value, old: Range, new: Range) -> Range:
        full = full_range(value.type)
        return Range(full.low if new.low < old.low else old.low, full.high if new.high > old.high else old.high)

    def _exact(self, op: Op) -> Range | None:
        """The range in unbounded integers."""
        match op:
            case ops.Constant():
                return Range(int(op.value), int(op.value))
            case ops.ProgramId():
                return Range(0, (self.target.max_programs if op.axis == 0 else MAX_GRID_YZ) - 1)
            case ops.NumPrograms():
                return Range(1, self.target.max_programs if op.axis == 0 else MAX_GRID_YZ)
            case ops.Arange():
                return Range(op.start, op.end - 1)
            case ops.Select():
                return self.facts[op.if_true].hull(self.facts[op.if_false])
            case ops.Shl() | ops.Shr():
                element = element_of(op.result.type)
                assert isinstance(element, ScalarType)
                function = _shl if isinstance(op, ops.Shl) else _shr
                return function(self.facts[op.lhs], self.facts[op.rhs], element.bits)
            case ops.Gather():
                return self.facts[op.source]
            case ops.Histogram():
                return Range(0, shape_of(op.source.type)[0])
            case ops.Reduce():
                return _reduced(op.combine, self.facts[op.source], shape_of(op.source.type)[op.axis])
            case PartialReduce():
                return _reduced(op.combine, self.facts[op.source], 1 << op.bits.bit_count())
        return _arithmetic(op, self.facts)


def _arithmetic(op: Op, ranges: Mapping[Value, Range]) -> Range | None:
    function = _EXACT.get(type(op))
    if function is None or not all(v in ranges for v in op.operands):
        return None
    return function(*(ranges[v] for v in op.operands))


def value_ranges(func: Func, target: Target) -> dict[Value, Range]:
    """A range for every integer and bool value, scalar or block; arguments and loaded values have their full range."""
    return _Ranges(target).run(func)


def no_overflow(op: Op, ranges: Mapping[Value, Range]) -> bool:
    """Whether an integer `+`, `-`, `*`, negation or abs, signed or not, provably gives the exact result, without
    wrapping."""
    if not isinstance(op, (ops.Add, ops.Sub, ops.Mul, ops.Neg, ops.Abs)) or not is_integer(op.result.type):
        return False
    exact = _arithmetic(op, ranges)
    return exact is not None and exact.within(full_range(op.result.type))
