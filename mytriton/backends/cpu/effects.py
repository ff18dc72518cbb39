"""Assertions and prints as text: what a running kernel tells Python (`feedback.py`).

A failed assertion leaves in memory which it is, and jumps out of all programs: what follows it must not run, since a
kernel may assert what its accesses rely on. A print leaves its values in scratch memory and calls Python, so that
numbers look as they do in the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.cpu.held import to_memory
from mytriton.backends.cpu.places import held_type, scratch_address
from mytriton.backends.cpu.plan import Plan
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.writer import POINTER, Text, dense, type_name
from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.types import ScalarType, element_of, i1, i32, i64, shape_of

#: Where in the memory of a failure the C library's `jmp_buf` is; before it, 8 bytes each: the number of the assertion
#: from 1 on, the program, the lane.
JUMP_OFFSET = 64

_FAILED = f"""\
func.func private @assertion.failed(%failure: {POINTER}, %number: i64, %program: i64, %lane: i64) {{
  llvm.store %number, %failure : i64, {POINTER}
  %at.program = llvm.getelementptr %failure[1] : ({POINTER}) -> {POINTER}, i64
  llvm.store %program, %at.program : i64, {POINTER}
  %at.lane = llvm.getelementptr %failure[2] : ({POINTER}) -> {POINTER}, i64
  llvm.store %lane, %at.lane : i64, {POINTER}
  %jump = llvm.getelementptr %failure[{JUMP_OFFSET}] : ({POINTER}) -> {POINTER}, i8
  %one = arith.constant 1 : i32
  llvm.call @longjmp(%jump, %one) : ({POINTER}, i32) -> ()
  func.return
}}
llvm.func @longjmp({POINTER}, i32)
llvm.func @_setjmp({POINTER}) -> i32 attributes {{passthrough = ["returns_twice"]}}"""


class EffectWriter:
    """Writes the assertions and prints of one function. Each has a number, its place in `assertions` or `prints`."""

    def __init__(self, func: Func, text: Text, plan: Plan, scalars: ScalarWriter) -> None:
        self.text, self.plan, self.scalars = text, plan, scalars
        self.assertions = [op for op in func.walk() if isinstance(op, ops.Assert)]
        self.prints: list[ops.Print] = []
        self._has_prints = any(isinstance(op, ops.Print) for op in func.walk())

    @property
    def parameters(self) -> list[str]:
        """The arguments of the function that these need."""
        failure = [f"%failure.memory: {POINTER}"] if self.assertions else []
        return failure + ([f"%print.function: {POINTER}"] if self._has_prints else [])

    def entry(self, symbol: str, inner: str, params: Sequence[str]) -> None:
        """The function to which a failed assertion jumps back, around the one that runs the programs."""
        text = self.text
        text.functions["assertion.failed"] = _FAILED.split("\n")
        with text.block(f"func.func {symbol}({', '.join(params)})"):
            text.write(
                f"%failure.jump = llvm.getelementptr %failure.memory[{JUMP_OFFSET}] : ({POINTER}) -> {POINTER}, i8"
            )
            text.write(f"%failure.returned = llvm.call @_setjmp(%failure.jump) : ({POINTER}) -> i32")
            text.write("%failure.zero = arith.constant 0 : i32")
            text.write("%failure.none = arith.cmpi eq, %failure.returned, %failure.zero : i32")
            names, kinds = zip(*(p.split(" {")[0].split(": ") for p in params), strict=True)
            with text.block("scf.if %failure.none"):
                text.write(f"func.call {inner}({', '.join(names)}) : ({', '.join(kinds)}) -> ()")
            text.write("func.return")

    def assert_scalar(self, op: ops.Assert) -> None:
        """An assertion on a scalar."""
        self.text.at(op)
        self._fail_unless(op, self.scalars.name(op.condition), "")

    def assert_chunk(self, op: ops.Assert, condition: str, width: int) -> None:
        """An assertion on the elements of the chunk that a loop is at."""
        text, stem = self.text, self._stem(op)
        text.at(op)
        bools = type_name(i1, width)
        text.write(f"{stem}.all = vector.reduction <and>, {condition} : {bools} into i1")
        self._fail_unless(op, f"{stem}.all", condition, width)

    def _stem(self, op: ops.Assert) -> str:
        return f"%assertion_{self.assertions.index(op)}"

    def _fail_unless(self, op: ops.Assert, holds: str, chunk: str, width: int = 0) -> None:
        text, stem, writer = self.text, self._stem(op), self.scalars.emitter
        true = writer.constant(True, i1, f"{stem}.true")
        failed = writer.apply("arith.xori", (holds, true), i1, f"{stem}.failed")
        with text.block(f"scf.if {failed}"):
            number = writer.constant(self.assertions.index(op) + 1, i64, f"{stem}.number")
            lane = self._lane(stem, chunk, width) if chunk else writer.constant(0, i64, f"{stem}.lane")
            types = f"({POINTER}, i64, i64, i64) -> ()"
            text.write(f"func.call @assertion.failed(%failure.memory, {number}, %program.i, {lane}) : {types}")

    def _lane(self, stem: str, chunk: str, width: int) -> str:
        """The first element that is false."""
        text, vector = self.text, type_name(i32, width)
        text.write(f"{stem}.none = arith.constant {dense([width] * width)} : {vector}")
        bools = type_name(i1, width)
        text.write(f"{stem}.lanes = arith.select {chunk}, {stem}.none, %lanes.{width} : {bools}, {vector}")
        text.write(f"{stem}.first = vector.reduction <minui>, {stem}.lanes : {vector} into i32")
        text.write(f"{stem}.at = arith.addi {stem}.first, %chunk.i : i32")
        return self.scalars.emitter.convert("arith.extui", f"{stem}.at", i32, i64, f"{stem}.lane")

    def print(self, op: ops.Print) -> None:
        """A print: scalars are put beside the blocks that are kept already."""
        text, stem = self.text, f"%print_{len(self.prints)}"
        text.at(op)
        for number, value in enumerate(op.values):
            if not shape_of(value.type):
                element, held = element_of(value.type), type_name(held_type(value))
                assert isinstance(element, ScalarType)
                where = scratch_address(text, f"{stem}.value_{number}", self.plan.slots[op] + 8 * number)
                name = to_memory(self.scalars.emitter, self.scalars.name(value), element, f"{where}.held")
                text.write(f"llvm.store {name}, {where} {{alignment = 8 : i64}} : {held}, {POINTER}")
        text.write(f"{stem}.number = arith.constant {len(self.prints)} : i64")
        types = f"(i64, i64, {POINTER}) -> ()"
        text.write(f"llvm.call %print.function({stem}.number, %program.i, %scratch.base) : {POINTER}, {types}")
        self.prints.append(op)
