"""Prints a laid-out program as CUDA C++, every line with its Python span and the values it mentions.

The text is compiled as it stands: no header, no `#line`. Constants, casts, splats and views are nested in the
expressions that use them. A segment with one register a thread is plain statements; with more it is a loop over
registers, and values that another item needs are kept in per-thread arrays. Loops and branches are those of C++.
"""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.cuda.atomics import fences
from mytriton.backends.cuda.control import Control
from mytriton.backends.cuda.effects import Effects
from mytriton.backends.cuda.exchange import SHARED, Exchanges
from mytriton.backends.cuda.expressions import ELEMENTWISE, without_parentheses
from mytriton.backends.cuda.facts import VIEWS, Facts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.loops import Loop, Part, Structure
from mytriton.backends.cuda.memory import Memory
from mytriton.backends.cuda.names import mangle_kernel
from mytriton.backends.cuda.positions import position
from mytriton.backends.cuda.surrounding import around
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.writer import Writer
from mytriton.backends.nvidia.shared import STATIC_BYTES, alignment, shared_bytes
from mytriton.ir import ops
from mytriton.ir.core import Func, Op
from mytriton.layout.live import programs_together
from mytriton.layout.program import LaidOut
from mytriton.layout.staging import AsyncCopy
from mytriton.stage import Line
from mytriton.target import Target

_AXES = "xyz"
_OTHERS = (ops.ProgramId, ops.NumPrograms, ops.Arange, ops.AddPtr, ops.Load, ops.Store)
_EXCHANGED = (ops.Reduce, ops.Dot, ops.Pick, ops.Gather, ops.Histogram)
_INLINE = (ops.Constant, ops.Cast, ops.Splat)
_CONTROL = (ops.For, ops.While, ops.If, ops.Yield)
_EFFECTS = (ops.Atomic, ops.Assert, ops.Barrier, ops.Print, ops.InlineAsm, ops.VolatileAsm)
#: The operations this emitter prints.
SUPPORTED = ELEMENTWISE | {*_OTHERS, *_EXCHANGED, *_INLINE, *VIEWS, *_CONTROL, *_EFFECTS}


def emit(laid_out: LaidOut, target: Target) -> list[Line]:
    """The CUDA C++ of a kernel; its symbol is `kernel_symbol(laid_out.func)`."""
    return _Emitter(laid_out, target).lines()


def kernel_symbol(func: Func) -> str:
    """The name under which the kernel is in the cubin."""
    return mangle_kernel(func.name)


class _Emitter:
    def __init__(self, laid_out: LaidOut, target: Target) -> None:
        self._facts = facts = Facts(laid_out, target)
        self._target = target
        self._func = laid_out.func
        self._writer = writer = Writer()
        self._values = values = Values(facts, writer)
        self._memory = Memory(facts, values, writer)
        self._effects = Effects(facts, values, writer)
        self._exchange = Exchanges(facts, values, writer)
        self._control = Control(facts, values, writer, self._parts, self._right_hand_side)

    def lines(self) -> list[Line]:
        laid_out = self._facts.laid_out
        if size := shared_bytes(laid_out):
            self._writer.start(self._func.span)
            declared = f"__shared__ __align__({alignment(laid_out)}) unsigned char {SHARED}"
            self._writer.line(f"{declared}[{size}];" if size <= STATIC_BYTES else f"extern {declared}[];")
        self._parts(self._facts.parts)
        kernel = [*self._signature(), *self._writer.lines, Line("}", self._func.span)]
        return around(kernel, self._values.prelude.used)

    def _signature(self) -> list[Line]:
        params = ", ".join(f"{c_type(p.type)} {self._values.name(p)}" for p in self._func.params)
        ids = tuple(p.id for p in self._func.params)
        together = programs_together(self._facts.laid_out, self._target)
        sizes = ", ".join(map(str, (self._target.threads, *([together] if together > 1 else []))))
        bounds = f" __launch_bounds__({sizes})" if self._target.form == "tuned" else ""
        return [
            Line(f'extern "C" __global__{" void" + bounds if bounds else ""}', self._func.span),
            Line(f"{'' if bounds else 'void '}{kernel_symbol(self._func)}({params}) {{", self._func.span, ids),
        ]

    def _parts(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Loop):
                self._loop(part)
                continue
            if isinstance(part, Structure) and part.barrier:
                self._barrier(part.op)
            if isinstance(part, Structure):
                self._control(part)
            else:
                self._exchange(part)

    def _barrier(self, op: Op) -> None:
        self._writer.start(op.span)
        self._writer.line("__syncthreads();")

    def _loop(self, loop: Loop) -> None:
        if loop.barrier:
            # Every thread reads a scalar for itself, one thread writes it: all must have arrived in between.
            self._barrier(loop.ops[0])
        for op in loop.ops:
            self._writer.start(op.span, op.results)
            for value in op.results:
                self._values.declare_array(value)
        self._writer.start(loop.ops[0].span)
        with self._values.loop(loop.registers, loop.step):
            for op in loop.ops:
                self._statement(op, loop.step)

    def _statement(self, op: Op, width: int) -> None:
        self._writer.start(op.span, op.results)
        match op:
            case ops.Store():
                self._memory.store(op, width)
            case AsyncCopy():
                self._memory.copy(op, SHARED)
            case ops.Assert():
                self._effects.assertion(op)
            case ops.Print():
                self._effects.printing(op)
            case ops.Atomic():
                before, after = fences(op)
                text = f"{self._values.target(op.result)} = {self._memory.atomic(op)};"
                for line in filter(None, (before, text, after)):
                    self._writer.line(line)
            case ops.Load() if width > 1:
                self._writer.line(f"{self._memory.wide_load(op, width)};")
            case _:
                text = self._right_hand_side(op)
                if self._target.form == "tuned":
                    text = without_parentheses(text)
                self._writer.line(f"{self._values.target(op.result)} = {text};")

    def _right_hand_side(self, op: Op) -> str:
        match op:
            case ops.ProgramId():
                return f"blockIdx.{_AXES[op.axis]}"
            case ops.NumPrograms():
                return f"gridDim.{_AXES[op.axis]}"
            case ops.Arange():
                return position(self._facts.laid_out.layouts[op.result], op.start)
            case ops.Load():
                return self._memory.load(op)
            case ops.AddPtr():
                return f"({self._memory.sum(op)})"
        if op.inline or isinstance(op, VIEWS):
            return self._values.inline(op.result)
        return self._values.combine(op, list(op.operands))
