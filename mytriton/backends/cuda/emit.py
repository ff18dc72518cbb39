"""Prints a laid-out program as CUDA C++, every line with its Python span and the values it mentions.

The text is compiled as it stands: no header, no `#line`. Constants, casts and splats are nested in the expressions that
use them. A segment with one register a thread is plain statements; with more it is a loop over registers, and values
that a later segment needs are kept in per-thread arrays.
"""

from __future__ import annotations

from collections.abc import Iterator

from mytriton.analysis.ranges import no_signed_overflow, value_ranges
from mytriton.backends.cuda.expressions import ELEMENTWISE, Constant, Expressions
from mytriton.backends.cuda.literals import c_type, literal
from mytriton.backends.cuda.names import mangle, value_names
from mytriton.backends.cuda.positions import owner, position
from mytriton.backends.cuda.prelude import Prelude
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value, definitions
from mytriton.layout.program import LaidOut, Segment
from mytriton.source import Span
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import PointerType, ScalarType, element_of, i1

_AXES = "xyz"
_OTHERS = (ops.ProgramId, ops.NumPrograms, ops.Arange, ops.AddPtr, ops.Load, ops.Store)
_INLINE = (ops.Constant, ops.Cast, ops.Splat)
#: The operations this emitter prints.
SUPPORTED = ELEMENTWISE | {*_OTHERS, *_INLINE}


def emit(laid_out: LaidOut, target: Target) -> list[Line]:
    """The CUDA C++ of a kernel; its symbol is `kernel_symbol(laid_out.func)`."""
    return _Emitter(laid_out, target).lines()


def kernel_symbol(func: Func) -> str:
    """The name under which the kernel is in the cubin."""
    return mangle(func.name)


class _Emitter:
    def __init__(self, laid_out: LaidOut, target: Target) -> None:
        self._laid_out = laid_out
        self._target = target
        self._func = laid_out.func
        self._definitions = definitions(self._func)
        self._folded = _folded(self._func, self._definitions)
        self._prelude = Prelude(target)
        ranges = value_ranges(self._func, target)
        self._expressions = Expressions(self._prelude, lambda op: no_signed_overflow(op, ranges))
        self._arrays = self._escaping()
        named = [v for v, op in self._definitions.items() if not op.inline and op not in self._folded]
        self._name = value_names(self._func, named, use_hints=target.form == "tuned")
        self._mentioned: dict[str, None] = {}

    def lines(self) -> list[Line]:
        body = [line for segment in self._laid_out.segments for line in self._segment(segment)]
        helpers = [Line(text) for text in self._prelude.lines()]
        return [*helpers, *self._signature(), *body, Line("}", self._func.span)]

    def _signature(self) -> list[Line]:
        params = ", ".join(f"{c_type(p.type)} {self._name(p)}" for p in self._func.params)
        ids = tuple(p.id for p in self._func.params)
        bounds = f" __launch_bounds__({self._target.threads})" if self._target.form == "tuned" else ""
        return [
            Line(f'extern "C" __global__{" void" + bounds if bounds else ""}', self._func.span),
            Line(f"{'' if bounds else 'void '}{kernel_symbol(self._func)}({params}) {{", self._func.span, ids),
        ]

    # --- segments -----------------------------------------------------------------------------------------------------

    def _escaping(self) -> dict[Value, int]:
        """Values that live in per-thread arrays, with their length: those of a loop that a later segment mentions."""
        home = {v: s for s in self._laid_out.segments for op in s.ops for v in op.results}
        return {
            value: home[value].registers
            for segment in self._laid_out.segments
            for op in segment.ops
            if not op.inline and op not in self._folded
            for value in self._leaves(op)
            if value in home and home[value] is not segment and home[value].registers > 1
        }

    def _leaves(self, op: Op) -> Iterator[Value]:
        """The named values that the text of an operation mentions."""
        stack = list(op.operands)
        while stack:
            value = stack.pop()
            inner = self._definitions.get(value)
            if inner is not None and (inner.inline or inner in self._folded):
                stack += inner.operands
            else:
                yield value

    def _segment(self, segment: Segment) -> Iterator[Line]:
        printed = [op for op in segment.ops if not op.inline and op not in self._folded]
        if segment.barrier:
            # Every thread reads a scalar for itself, one thread writes it: all must have arrived in between.
            yield Line("    __syncthreads();", printed[0].span if printed else None)
        if segment.registers == 1:
            for op in printed:
                yield from self._statement(op, "    ")
            return
        for op in printed:
            for value in op.results:
                if value in self._arrays:
                    text = f"    {c_type(value.type)} {self._name(value)}[{self._arrays[value]}];"
                    yield Line(text, op.span, (value.id,))
        if not printed:
            return
        yield Line("    #pragma unroll", printed[0].span)
        yield Line(f"    for (int r = 0; r < {segment.registers}; ++r) {{", printed[0].span)
        for op in printed:
            yield from self._statement(op, "        ")
        yield Line("    }", printed[-1].span)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, op: Op, indent: str) -> Iterator[Line]:
        self._mentioned = dict.fromkeys(v.id for v in op.results)
        if isinstance(op, ops.Store):
            yield from self._store(op, indent)
            return
        text = self._right_hand_side(op)
        target = self._reference(op.result) if op.result in self._arrays else self._declare(op.result)
        yield self._line(f"{indent}{target} = {text};", op.span)

    def _line(self, text: str, span: Span | None) -> Line:
        return Line(text, span, tuple(self._mentioned))

    def _declare(self, value: Value) -> str:
        return f"{c_type(value.type)} {self._name(value)}"

    def _store(self, op: ops.Store, indent: str) -> Iterator[Line]:
        conditions = [] if op.mask is None else [self._value(op.mask)]
        # Threads may hold copies of an element; one of them writes it.
        conditions += owner(self._laid_out.layouts[op.value], self._target.threads)
        statement = f"{self._place(op.pointer)} = {self._value(op.value)};"
        if not conditions:
            yield self._line(indent + statement, op.span)
            return
        yield self._line(f"{indent}if ({' && '.join(conditions)}) {{", op.span)
        yield self._line(f"{indent}    {statement}", op.span)
        yield self._line(f"{indent}}}", op.span)

    def _right_hand_side(self, op: Op) -> str:
        if isinstance(op, ops.ProgramId):
            return f"blockIdx.{_AXES[op.axis]}"
        if isinstance(op, ops.NumPrograms):
            return f"gridDim.{_AXES[op.axis]}"
        if isinstance(op, ops.Arange):
            return position(self._laid_out.layouts[op.result], op.start)
        if isinstance(op, ops.Load):
            return self._load(op)
        if isinstance(op, ops.AddPtr):
            return f"({self._value(op.pointer)} + {self._value(op.offset)})"
        # A comparison's operands differ in type from its result, a selection's first from the others.
        element = element_of(op.operands[-1].type)
        operands = [self._value(v) for v in op.operands]
        return self._expressions(op, element, operands, [self._constant(v) for v in op.operands])

    def _load(self, op: ops.Load) -> str:
        element = element_of(op.result.type)
        assert isinstance(element, ScalarType)
        place = self._place(op.pointer)
        if element == i1:
            place += " != 0"
        if op.mask is None:
            return place if element != i1 else f"({place})"
        other = literal(0, element) if op.other is None else self._value(op.other)
        return f"({self._value(op.mask)} ? {place} : {other})"

    # --- operands -----------------------------------------------------------------------------------------------------

    def _reference(self, value: Value) -> str:
        return f"{self._name(value)}[r]" if value in self._arrays else self._name(value)

    def _value(self, value: Value) -> str:
        """A value as an operand, with the constants, casts and splats it goes through."""
        casts: list[tuple[ScalarType, ScalarType]] = []
        while True:
            self._mentioned[value.id] = None
            op = self._definitions.get(value)
            if isinstance(op, ops.Cast):
                source = element_of(op.source.type)
                assert not isinstance(source, PointerType)
                casts.append((source, op.to))
                value = op.source
            elif isinstance(op, ops.Splat):
                value = op.source
            else:
                break
        text = literal(op.value, op.type) if isinstance(op, ops.Constant) else self._reference(value)
        for source, to in reversed(casts):
            text = self._expressions.cast(text, source, to)
        return text

    def _constant(self, value: Value) -> Constant:
        op = self._definitions.get(value)
        while isinstance(op, ops.Splat):
            op = self._definitions.get(op.source)
        return op.value if isinstance(op, ops.Constant) else None

    def _place(self, pointer: Value) -> str:
        """The memory a pointer points to: `x[v3]` for a sum that is only used as an address, else `*v4`."""
        op = self._definitions.get(pointer)
        if isinstance(op, ops.AddPtr) and op in self._folded:
            self._mentioned[pointer.id] = None
            return f"{self._value(op.pointer)}[{self._value(op.offset)}]"
        return f"*{self._value(pointer)}"


def _folded(func: Func, definitions: dict[Value, Op]) -> set[Op]:
    """The pointer sums whose every use is as an address: they print as an index there, and not by themselves."""
    other_uses = {
        value
        for op in func.walk()
        for value in op.operands
        if not (isinstance(op, (ops.Load, ops.Store)) and value is op.pointer)
    }
    return {op for value, op in definitions.items() if isinstance(op, ops.AddPtr) and value not in other_uses}
