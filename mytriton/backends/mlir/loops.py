"""How `scf.for` counts. It steps up, and its counter wraps; a loop that needs another counter has its trips counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mytriton.analysis.ranges import Range
from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, i1, i64


@dataclass(frozen=True)
class Counter:
    """`head` is the text between `scf.for` and ` : type`, `name` its counter; `make` writes, in the body, what makes
    the loop's variable of it, and returns the variable's name."""

    head: str
    type: str
    name: str
    make: Callable[[], str]


def counter(context: Context, op: ops.For, ranges: Mapping[Value, Range]) -> Counter:
    """Write what must be known before the loop.

    A constant step up is the loop's own. Where the variable might wrap at the end, the counter has a bit more: that of
    the sign if it starts at 0 or above, else it is an i64. For any other step the trips are counted.
    """
    element = element_of(op.lower.type)
    assert isinstance(element, ScalarType)
    text, variable = context.text, f"%v{number(op.induction)}"
    w = Writer(text.write)
    step, upper = ranges[op.step], ranges[op.upper]
    upwards = 0 < step.low == step.high
    if upwards and upper.high + step.high - 1 <= element.high:
        first, last, by = (context.ref(v) for v in (op.lower, op.upper, op.step))
        unsigned = "" if element.signed else "unsigned "
        head = f"{unsigned}{variable} = {first} to {last} step {by}"
        return Counter(head, element.signless, variable, lambda: variable)
    if upwards and element.signed and ranges[op.lower].low >= 0:
        first, last, by = (context.ref(v) for v in (op.lower, op.upper, op.step))
        last = w.apply("arith.maxsi", (last, text.constant(0, element)), element, f"{variable}_upper")
        return Counter(
            f"unsigned {variable} = {first} to {last} step {by}", element.signless, variable, lambda: variable
        )
    if upwards and element.bits < 64:
        wide = f"{variable}_wide"
        first, last, by = (
            _in_i64(context, w, value, element, f"{variable}_{name}")
            for name, value in (("lower", op.lower), ("upper", op.upper), ("step", op.step))
        )

        def narrow() -> str:
            return w.convert("arith.trunci", wide, i64, element, variable)

        return Counter(f"{wide} = {first} to {last} step {by}", "i64", wide, narrow)
    first, last, by = (context.ref(v) for v in (op.lower, op.upper, op.step))
    w.begin(f"{variable}_trips")
    trips, trip = _trips(w, first, last, by, step, element), f"{variable}_trip"

    def move() -> str:
        distance = w.apply("arith.muli", (trip, by), element, f"{variable}_distance")
        return w.apply("arith.addi", (first, distance), element, variable)

    zero, one = (text.constant(n, element) for n in (0, 1))
    return Counter(f"unsigned {trip} = {zero} to {trips} step {one}", element.signless, trip, move)


def _in_i64(context: Context, w: Writer, value: Value, element: ScalarType, name: str) -> str:
    op = context.definitions.get(value)
    if isinstance(op, ops.Constant):
        return context.text.constant(int(op.value), i64)
    return w.convert("arith.extsi" if element.signed else "arith.extui", context.ref(value), element, i64, name)


def _trips(w: Writer, first: str, last: str, step: str, known: Range, element: ScalarType) -> str:
    """The number of trips, unsigned: up to 2**bits - 1, so nothing here may be taken for signed."""

    def one_way(low: str, high: str, size: str) -> tuple[str, str]:
        """Whether there are trips, and how many if so: (high - low - 1) / size + 1."""
        one = w.constant(1, element)
        last_one = w.apply("arith.subi", (w.apply("arith.subi", (high, low), element), one), element)
        steps = w.apply("arith.divui", (last_one, w.apply("arith.maxui", (size, one), element)), element)
        return w.compare(ops.CmpLt, low, high, element), w.apply("arith.addi", (steps, one), element)

    def minus(value: str) -> str:
        return w.apply("arith.subi", (w.constant(0, element), value), element)

    zero = w.constant(0, element)
    if known.low >= 0:
        runs, trips = one_way(first, last, step)
    elif known.high <= 0:
        runs, trips = one_way(last, first, minus(step))
    else:
        is_up = w.compare(ops.CmpGt, step, zero, element)
        low, high = w.select(is_up, first, last, element), w.select(is_up, last, first, element)
        runs, trips = one_way(low, high, w.select(is_up, step, minus(step), element))
    if known.low <= 0 <= known.high:
        runs = w.apply("arith.andi", (runs, w.compare(ops.CmpNe, step, zero, element)), i1)
    return w.select(runs, trips, zero, element)
