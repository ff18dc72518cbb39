"""Prints a laid-out program as CUDA C++, every line with its Python span and the values it mentions.

The text is compiled as it stands: no header, no `#line`. Constants, casts and splats are nested in the expressions that
use them. A segment with one register a thread is plain statements; with more it is a loop over registers, and values
that a later segment needs are kept in per-thread arrays.
"""

from __future__ import annotations

from collections.abc import Iterator

from mytriton.analysis.axis import axis_info
from mytriton.analysis.ranges import no_overflow, value_ranges
from mytriton.backends.cuda.expressions import ELEMENTWISE, Constant, Expressions, without_parentheses
from mytriton.backends.cuda.literals import c_type, literal
from mytriton.backends.cuda.loops import Loop, access_widths, cut, is_scalar
from mytriton.backends.cuda.names import mangle, value_names
from mytriton.backends.cuda.positions import owner, position
from mytriton.backends.cuda.prelude import Prelude
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value, definitions
from mytriton.layout.program import LaidOut
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
        ranges = value_ranges(self._func, target)
        self._axis = axis_info(self._func, ranges)
        self._prelude = Prelude(target)
        self._expressions = Expressions(self._prelude, lambda op: no_overflow(op, ranges))
        self._widths = access_widths(laid_out, self._axis) if target.form == "tuned" else {}
        self._kept = self._moved_inline_operations()
        self._loops = cut(laid_out, self._is_printed, self._widths)
        self._arrays = self._escaping()
        named = [v for v, op in self._definitions.items() if self._is_printed(op)]
        self._name = value_names(self._func, named, use_hints=target.form == "tuned")
        self._register = "r"
        self._mentioned: dict[str, None] = {}

    def lines(self) -> list[Line]:
        body = [line for loop in self._loops for line in self._loop(loop)]
        before = [Line(text) for text in self._prelude.declarations()]
        after = [Line(text) for text in self._prelude.definitions()]
        return [*before, *self._signature(), *body, Line("}", self._func.span), *after]

    def _signature(self) -> list[Line]:
        params = ", ".join(f"{c_type(p.type)} {self._name(p)}" for p in self._func.params)
        ids = tuple(p.id for p in self._func.params)
        bounds = f" __launch_bounds__({self._target.threads})" if self._target.form == "tuned" else ""
        return [
            Line(f'extern "C" __global__{" void" + bounds if bounds else ""}', self._func.span),
            Line(f"{'' if bounds else 'void '}{kernel_symbol(self._func)}({params}) {{", self._func.span, ids),
        ]

    def _is_printed(self, op: Op) -> bool:
        return op not in self._folded and (not op.inline or op in self._kept)

    def _moved_inline_operations(self) -> set[Op]:
        """Constants, casts and splats that a wide access moves: they must be in an array, not in an expression."""
        moved = []
        for op, width in self._widths.items():
            assert isinstance(op, (ops.Load, ops.Store))
            moved += [op.value] if isinstance(op, ops.Store) else []
            moved += [op.mask] if op.mask is not None and not self._is_uniform(op.mask, width) else []
        makers = [self._definitions[value] for value in moved if value in self._definitions]
        return {op for op in makers if op.inline}

    # --- loops --------------------------------------------------------------------------------------------------------

    def _escaping(self) -> dict[Value, int]:
        """Values that live in per-thread arrays, with their length: what a wide access moves, and what another loop
        than its own mentions."""
        home = {value: loop for loop in self._loops for value in loop.results}
        return {
            value: home[value].registers
            for loop in self._loops
            for op in loop.ops
            for value in (*self._leaves(op), *op.results)
            if value in home and home[value].registers > 1 and (home[value] is not loop or loop.step > 1)
        }

    def _leaves(self, op: Op) -> Iterator[Value]:
        """The named values that the text of an operation mentions."""
        stack = list(op.operands)
        while stack:
            value = stack.pop()
            inner = self._definitions.get(value)
            if inner is not None and not self._is_printed(inner):
                stack += inner.operands
            else:
                yield value

    def _loop(self, loop: Loop) -> Iterator[Line]:
        first, last = loop.ops[0].span, loop.ops[-1].span
        if loop.barrier:
            # Every thread reads a scalar for itself, one thread writes it: all must have arrived in between.
            yield Line("    __syncthreads();", first)
        for op in loop.ops:
            for value in op.results:
                if value in self._arrays:
                    text = f"    {c_type(value.type)} {self._name(value)}[{self._arrays[value]}];"
                    yield Line(text, op.span, (value.id,))
        looped = loop.registers > loop.step
        self._register = "r" if looped else "0"
        if looped:
            yield Line("    #pragma unroll", first)
            step = "++r" if loop.step == 1 else f"r += {loop.step}"
            yield Line(f"    for (int r = 0; r < {loop.registers}; {step}) {{", first)
        for op in loop.ops:
            yield from self._statement(op, loop.step, "        " if looped else "    ")
        if looped:
            yield Line("    }", last)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, op: Op, width: int, indent: str) -> Iterator[Line]:
        self._mentioned = dict.fromkeys(v.id for v in op.results)
        if isinstance(op, ops.Store):
            yield from self._store(op, width, indent)
            return
        if isinstance(op, ops.Load) and width > 1:
            yield self._line(f"{indent}{self._wide_load(op, width)};", op.span)
            return
        text = self._right_hand_side(op)
        if self._target.form == "tuned":
            text = without_parentheses(text)
        target = self._reference(op.result) if op.result in self._arrays else self._declare(op.result)
        yield self._line(f"{indent}{target} = {text};", op.span)

    def _line(self, text: str, span: Span | None) -> Line:
        return Line(text, span, tuple(self._mentioned))

    def _declare(self, value: Value) -> str:
        return f"{c_type(value.type)} {self._name(value)}"

    def _store(self, op: ops.Store, width: int, indent: str) -> Iterator[Line]:
        conditions = []
        if op.mask is not None and (width == 1 or self._is_uniform(op.mask, width)):
            conditions.append(self._value(op.mask))
        # Threads may hold copies of an element; one of them writes it.
        conditions += owner(self._laid_out.layouts[op.value], self._target.threads)
        if width > 1:
            statement = self._wide_store(op, width)
        else:
            statement = f"{self._place(op.pointer)} = {self._value(op.value)}"
        if not conditions:
            yield self._line(f"{indent}{statement};", op.span)
            return
        yield self._line(f"{indent}if ({' && '.join(conditions)}) {{", op.span)
        yield self._line(f"{indent}    {statement};", op.span)
        yield self._line(f"{indent}}}", op.span)

    def _is_uniform(self, mask: Value, width: int) -> bool:
        """Whether one mask element speaks for all elements of an access."""
        return self._axis[mask].constant >= width or is_scalar(mask, self._definitions)

    def _wide_load(self, op: ops.Load, width: int) -> str:
        element = element_of(op.result.type)
        assert isinstance(element, ScalarType)
        arguments = [self._chunk(op.result), self._address(op.pointer)]
        if op.mask is None:
            return self._prelude.call("mt_load", *arguments, width=width)
        other = literal(0, element) if op.other is None else self._value(op.other)
        if self._is_uniform(op.mask, width):
            return self._prelude.call("mt_load_if", self._value(op.mask), *arguments, other, width=width)
        return self._prelude.call("mt_load_each", self._chunk(op.mask), *arguments, other, width=width)

    def _wide_store(self, op: ops.Store, width: int) -> str:
        arguments = [self._address(op.pointer), self._chunk(op.value)]
        if op.mask is None or self._is_uniform(op.mask, width):
            return self._prelude.call("mt_store", *arguments, width=width)
        return self._prelude.call("mt_store_each", self._chunk(op.mask), *arguments, width=width)

    def _chunk(self, value: Value) -> str:
        """The part of a value's array that a wide access moves."""
        self._mentioned[value.id] = None
        return self._name(value) + (" + r" if self._register == "r" else "")

    def _address(self, pointer: Value) -> str:
        op = self._definitions.get(pointer)
        if isinstance(op, ops.AddPtr) and op in self._folded:
            self._mentioned[pointer.id] = None
            return self._sum(op)
        return self._value(pointer)

    def _sum(self, op: ops.AddPtr) -> str:
        pointer, offset = self._value(op.pointer), self._value(op.offset)
        return f"{pointer} - {offset[1:]}" if offset.startswith("-") else f"{pointer} + {offset}"

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
            return f"({self._sum(op)})"
        if op.inline:
            return self._inline(op.result)
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
        return f"{self._name(value)}[{self._register}]" if value in self._arrays else self._name(value)

    def _value(self, value: Value) -> str:
        """A value as an operand."""
        self._mentioned[value.id] = None
        op = self._definitions.get(value)
        return self._reference(value) if op is None or self._is_printed(op) else self._inline(value)

    def _inline(self, value: Value) -> str:
        """The expression of a constant, cast or splat, with those it goes through."""
        casts: list[tuple[ScalarType, ScalarType]] = []
        op = self._definitions.get(value)
        while isinstance(op, (ops.Cast, ops.Splat)):
            if isinstance(op, ops.Cast):
                source = element_of(op.source.type)
                assert not isinstance(source, PointerType)
                casts.append((source, op.to))
            value = op.source
            self._mentioned[value.id] = None
            op = self._definitions.get(value)
            if op is not None and self._is_printed(op):
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
