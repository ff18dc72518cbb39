"""Loops and branches on scalars as `scf` operations. Carried scalars are their results and arguments; carried blocks
are in scratch memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mytriton.backends.cpu.scalars import ScalarWriter, scalar_type
from mytriton.backends.cpu.writer import Text, type_name
from mytriton.ir import ops
from mytriton.ir.core import Block, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.types import ScalarType, i64, shape_of

#: The largest number of trips that a loop counts to; nobody lives to see the end.
_MOST_TRIPS = 2**63 - 1


class ControlWriter:
    """Writes structured operations; `write_block` writes the steps of a nested block."""

    def __init__(self, text: Text, scalars: ScalarWriter, write_block: Callable[[Block], None]) -> None:
        self.text, self.scalars = text, scalars
        self.write_block = write_block

    def write(self, op: Op) -> None:
        """Write one structured operation and all that is in it."""
        self.text.at(op)
        match op:
            case ops.If():
                self._if(op)
            case ops.For():
                self._for(op)
            case ops.While():
                self._while(op)

    def _if(self, op: ops.If) -> None:
        results = _scalars(op.results)
        head = f"scf.if {self.scalars.name(op.condition)}"
        if results:
            head = f"{self._names(results)} = {head} -> ({self._types(results)})"
        with self.text.block(head):
            self._body(op, op.then)
        if op.results or op.orelse.ops[:-1]:  # blocks that it yields are copied to where they are kept
            with self.text.otherwise():
                self._body(op, op.orelse)

    def _body(self, op: Op, block: Block) -> None:
        self.write_block(block)
        self.text.at(op)
        self._yield("scf.yield", _scalars(yielded(block)))

    def _yield(self, head: str, values: Sequence[Value]) -> None:
        if values:
            self.text.write(f"{head} {self._names(values)} : {self._types(values)}")
        elif head != "scf.yield":
            self.text.write(head)

    def _names(self, values: Sequence[Value]) -> str:
        return ", ".join(map(self.scalars.name, values))

    def _types(self, values: Sequence[Value]) -> str:
        return ", ".join(type_name(scalar_type(v)) for v in values)

    def _arguments(self, params: Sequence[Value], initial: Sequence[Value]) -> str:
        return ", ".join(f"{self.text.name(p)} = {self.scalars.name(v)}" for p, v in zip(params, initial, strict=True))

    # --- loops --------------------------------------------------------------------------------------------------------

    def _for(self, op: ops.For) -> None:
        results, carried = _scalars(op.results), _scalars(op.carried)
        assigned = f"{self._names(results)} = " if results else ""
        trip = f"{self.text.name(op.induction)}.trip"
        lower, upper, step = self._bounds(op, trip)
        head = f"{assigned}scf.for {trip} = {lower} to {upper} step {step}"
        if carried:
            initial = self._arguments(carried, _scalars(op.initial))
            head += f" iter_args({initial}) -> ({self._types(carried)})"
        with self.text.block(f"{head} : i64", end="} {loop_annotation = #as_written}"):
            self._induction(op, trip)
            self._body(op, op.body)

    def _counts_directly(self, op: ops.For) -> bool:
        """Whether a counter of 64 bits can be the variable itself: it then does not wrap, and `scf.for` counts up."""
        step = self.scalars.constant(op.step)
        return _counter(op).bits < 64 and step is not None and step > 0

    def _bounds(self, op: ops.For, stem: str) -> tuple[str, str, str]:
        """The bounds and the step of the counter."""
        element = _counter(op)
        names = [self.scalars.name(v) for v in (op.lower, op.upper, op.step)]
        writer = self.scalars.emitter
        if element.bits < 64:
            extend = "arith.extsi" if element.signed else "arith.extui"
            wide = zip(names, ("lower", "upper", "step"), strict=True)
            names = [writer.convert(extend, name, element, i64, f"{stem}.{what}") for name, what in wide]
        if self._counts_directly(op):
            return names[0], names[1], names[2]
        zero, one = (writer.constant(n, i64, f"{stem}.{n}") for n in (0, 1))
        return zero, self._trips(names, element, zero, one, stem), one

    def _trips(self, bounds: Sequence[str], element: ScalarType, zero: str, one: str, stem: str) -> str:
        """How many trips are made: the distance, less 1, divided by the step, plus 1, in unsigned arithmetic."""
        writer, (lower, upper, step) = self.scalars.emitter, bounds
        number = element if element.bits == 64 else i64  # how the bounds compare

        def binary(name: str, lhs: str, rhs: str, result: str) -> str:
            return writer.apply(f"arith.{name}", (lhs, rhs), i64, f"{stem}.{result}")

        def choose(condition: str, if_true: str, if_false: str, result: str) -> str:
            return writer.select(condition, if_true, if_false, i64, f"{stem}.{result}")

        down = writer.compare(ops.CmpLt, step, zero, number, f"{stem}.is_down")
        first, last = choose(down, upper, lower, "low"), choose(down, lower, upper, "high")
        size = choose(down, binary("subi", zero, step, "negated"), step, "size")
        none = writer.compare(ops.CmpGe, first, last, number, f"{stem}.is_empty")
        still = writer.compare(ops.CmpEq, step, zero, i64, f"{stem}.is_still")
        divisor = choose(still, one, size, "divisor")
        distance = binary("subi", binary("subi", last, first, "distance"), one, "distance_less_1")
        trips = binary("addi", binary("divui", distance, divisor, "quotient"), one, "count")
        most = writer.constant(_MOST_TRIPS, i64, f"{stem}.most")
        count = choose(none, zero, binary("minui", trips, most, "bounded"), "some")
        return choose(still, zero, count, "trips")

    def _induction(self, op: ops.For, trip: str) -> None:
        """The loop variable, from the counter."""
        element, name, writer = _counter(op), self.text.name(op.induction), self.scalars.emitter
        if not self._counts_directly(op):
            # Modulo 2**64, and so also modulo the width of the variable, in which its values are known to fit.
            lower, _, step = (
                f"{trip}.{what}" if element.bits < 64 else self.scalars.name(v)
                for v, what in ((op.lower, "lower"), (op.upper, "upper"), (op.step, "step"))
            )
            moved = writer.apply("arith.muli", (trip, step), i64, f"{name}.moved")
            result = name if element.bits == 64 else f"{name}.wide"
            trip = writer.apply("arith.addi", (lower, moved), i64, result)
        if element.bits < 64:
            writer.convert("arith.trunci", trip, i64, element, name)

    def _while(self, op: ops.While) -> None:
        results, tested, carried = (_scalars(v) for v in (op.results, op.condition.params, op.body.params))
        types = self._types(tested)
        assigned = f"{self._names(results)} = " if results else ""
        arguments = f" ({self._arguments(tested, _scalars(op.initial))})" if tested else ""
        with self.text.block(f"{assigned}scf.while{arguments} : ({types}) -> ({types})"):
            self.write_block(op.condition)
            self.text.at(op)
            condition = self.scalars.name(yielded(op.condition)[0])
            self._yield(f"scf.condition({condition})", tested)
        params = ", ".join(f"{self.text.name(v)}: {type_name(scalar_type(v))}" for v in carried)
        with self.text.then_do(f"^bb0({params}):" if params else ""):
            self._body(op, op.body)
            if not carried:
                self.text.write("scf.yield")


def _scalars(values: Sequence[Value]) -> list[Value]:
    return [v for v in values if not shape_of(v.type)]


def _counter(op: ops.For) -> ScalarType:
    element = scalar_type(op.induction)
    assert isinstance(element, ScalarType)
    return element
