"""Products of blocks: both factors through shared memory, then one step of the sum after the other in every thread, or
tensor cores."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.cuda.expressions import without_parentheses
from mytriton.backends.cuda.facts import Facts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.positions import owner, placed, plus
from mytriton.backends.cuda.section import Section
from mytriton.backends.cuda.tensor import Side, TensorCores
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.warpgroups import Warpgroups
from mytriton.backends.cuda.writer import Writer
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import DotPlan, dot_plan, is_staged, mapped, puts
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Finish
from mytriton.layout.swizzle import PIECE_BYTES
from mytriton.layout.warpgroup import by_warpgroups
from mytriton.types import ScalarType, element_of

#: Steps in a row, so that one load may bring several elements of a row of the first factor.
_UNROLLED = 4


class Dots(Section):
    """Prints the products of one kernel through the buffer named `shared`."""

    def __init__(self, facts: Facts, values: Values, writer: Writer, shared: str) -> None:
        super().__init__(facts, values, writer)
        self._shared = shared
        self._tensor_cores = TensorCores(facts, values, writer)
        self._warpgroups = Warpgroups(facts, values, writer)

    def __call__(self, op: ops.Dot, barrier: bool) -> None:
        """Write a product; its result is declared."""
        line, plan = self._writer.line, dot_plan(op, self._facts.laid_out.layouts)
        self._start(op)
        sides = self._sides(op, plan)
        if plan.rounds == 1:
            if barrier:
                line("__syncthreads();")
            self._round(op, plan, sides)
            return
        with self._writer.block(f"for (int round = 0; round < {plan.rounds}; ++round)"):
            line("__syncthreads();")
            self._round(op, plan, sides)

    def finish(self, op: Finish) -> None:
        """The result is what was begun, if that is another variable."""
        self._warpgroups.wait(op.source)
        self._copy(op.source, op.result)

    def _sides(self, op: ops.Dot, plan: DotPlan) -> list[Side]:
        """Both factors, with a pointer to where each begins in the buffer."""
        sides = []
        for which, value, factor in (("lhs", op.lhs, plan.lhs), ("rhs", op.rhs, plan.rhs)):
            own = not is_staged(op, which)  # another has its own name, that of a pointer
            name = self._values.own_name(op.result, which) if own else self._values.name(value)
            sides.append(Side(which, value, factor, name))
        type_ = c_type(op.lhs.type)
        for side in sides:
            if side.which in puts(op):
                start = plus(f"({type_}*){self._shared}", str(side.factor.start))
                self._writer.line(f"{type_}* {side.name} = {start};")
        return sides

    def _start(self, op: ops.Dot) -> None:
        """The result begins as what is added."""
        self._copy(op.acc, op.result)

    def _copy(self, source: Value, result: Value) -> None:
        """Nothing if both are one variable."""
        variables = self._values.variables
        if variables.get(self._facts.named(source)) is variables.get(result):
            return
        with self._values.loop(self._facts.registers(result)):
            self._writer.line(f"{self._values.target(result)} = {without_parentheses(self._values(source))};")

    def _round(self, op: ops.Dot, plan: DotPlan, sides: Sequence[Side]) -> None:
        for side in sides:
            if side.which in puts(op):
                self._put(side, plan)
        together = by_warpgroups(op)
        if puts(op):
            if together:
                self._warpgroups.fence()
            self._writer.line("__syncthreads();")
        layout = self._facts.laid_out.layouts[op.result]
        if together:
            self._warpgroups(op, plan, sides)
        elif op.instruction:
            self._tensor_cores(op, plan, sides)
        elif plan.depth > 1:
            self._writer.line(f"#pragma unroll {min(_UNROLLED, plan.depth)}")
            with self._writer.block(f"for (int kk = 0; kk < {plan.depth}; ++kk)"):
                self._step(op, plan, layout, sides)
        else:
            self._step(op, plan, layout, sides)

    def _put(self, side: Side, plan: DotPlan) -> None:
        """A factor's elements to the buffer, as far as it is their turn."""
        factor, layout = side.factor, self._facts.laid_out.layouts[side.value]
        conditions = owner(layout, self._facts.target.threads)
        if plan.rounds > 1:
            conditions.insert(0, f"{placed(layout, factor.round)} == round")
        width = self._width(side, layout)
        with self._values.loop(layout.registers, width):
            if width > 1:
                inside = layout.register[: width.bit_length() - 1]
                slot = tuple(0 if 1 << bit in inside else mask for bit, mask in enumerate(factor.slot))
                to, chunk = plus(side.name, placed(layout, slot)), self._values.chunk(side.value)
                text = f"{self._values.prelude.call('mt_store', to, chunk, width=width)};"
            else:
                text = f"{side.name}[{placed(layout, factor.slot)}] = {without_parentheses(self._values(side.value))};"
            if not conditions:
                self._writer.line(text)
                return
            with self._writer.block(f"if ({' && '.join(conditions)})"):
                self._writer.line(text)

    def _width(self, side: Side, layout: Layout) -> int:
        """How many registers hold neighbours in the buffer, and go there at once."""
        if self._facts.named(side.value) not in self._facts.arrays:
            return 1
        element = element_of(side.value.type)
        assert isinstance(element, ScalarType)
        width = 1
        for place in mapped(side.factor.slot, layout.register):
            if place != width or 2 * width * element.bytes > PIECE_BYTES:
                break
            width *= 2
        return width

    def _step(self, op: ops.Dot, plan: DotPlan, layout: Layout, sides: Sequence[Side]) -> None:
        """Add the products of column and row `kk`."""
        source, total = element_of(op.lhs.type), element_of(op.result.type)
        assert isinstance(source, ScalarType)
        assert isinstance(total, ScalarType)
        with self._values.loop(layout.registers):
            texts = []
            for side in sides:
                stride = side.factor.stride
                step = "" if plan.depth == 1 else "kk" if stride == 1 else f"kk * {stride}"
                place = plus(placed(layout, side.factor.needed), step)
                texts.append(self._values.expressions.cast(f"{side.name}[{place}]", source, total))
            result = self._values.reference(op.result)
            self._writer.line(f"{result} = {self._added(total, texts, result)};")

    def _added(self, total: ScalarType, pair: list[str], acc: str) -> str:
        """The product of a pair plus `acc`: floats are rounded once, integers wrap."""
        unknown = Value("", total)
        if total.kind == "float":
            fused = ops.Fma(x=unknown, y=unknown, z=unknown, results=(unknown,))
            return without_parentheses(self._values.expressions(fused, total, [*pair, acc], [None] * 3))
        # The product of two i8 always fits.
        added = ops.Add(lhs=unknown, rhs=unknown, results=(unknown,))
        return without_parentheses(self._values.expressions(added, total, [acc, " * ".join(pair)], [None] * 2))
