"""Products by warpgroups: descriptors say where the factors stand in shared memory, and an instruction of four warps
multiplies a tile of them after the other (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.positions import bits, plus
from mytriton.backends.cuda.section import Section
from mytriton.backends.cuda.tensor import Side
from mytriton.backends.nvidia import wgmma
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import DotPlan
from mytriton.layout.layout import Layout
from mytriton.layout.mma import WARPGROUP_ROWS, Instruction, instruction, tiles
from mytriton.layout.routes import BitMap
from mytriton.layout.warpgroup import UNIT_BYTES, Matrix, matrices
from mytriton.types import ScalarType, element_of, shape_of

#: The most registers that one function waits for.
_TOGETHER = 128

_DESCRIPTOR = """\
__device__ unsigned long long mt_matrix(unsigned long long how, unsigned start) {
    return how | (start & 0x3ffff) >> 4;
}"""
_PLAIN = """\
__device__ void {name}() {{
    asm volatile("{text}" ::: "memory");
}}"""
# The sums are named by all that follows each other, lest anything that makes or uses them comes between.
_ORDER = """\
__device__ void {name}({type}* sum) {{
    asm volatile("{text}"
                 : {sums}
                 :: "memory");
}}"""
_HOLD = """\
__device__ void {name}(unsigned* word) {{
    asm volatile(""
                 : {words}
                 :: "memory");
}}"""
_HELD = """\
__device__ void {name}({type}* sum, const unsigned* lhs, unsigned long long rhs) {{
    asm volatile("{text}"
                 : {sums}
                 : "r"(lhs[0]), "r"(lhs[1]), "r"(lhs[2]), "r"(lhs[3]), "l"(rhs));
}}"""
_MULTIPLY = """\
__device__ void {name}({type}* sum, unsigned long long lhs, unsigned long long rhs) {{
    asm volatile("{text}"
                 : {sums}
                 : "l"(lhs), "l"(rhs));
}}"""


class Warpgroups(Section):
    """Prints what is done between the barriers of a round."""

    def __call__(self, op: ops.Dot, plan: DotPlan, sides: Sequence[Side]) -> None:
        """Add the products of the columns and rows that are in shared memory."""
        result, line, of = self._facts.laid_out.layouts[op.result], self._writer.line, instruction(op)
        found = matrices(op, plan, result)
        names = [self._values.own_name(op.result, f"{side.which}_matrix") for side in sides]
        for side, matrix, name in zip(sides, found, names, strict=True):
            if op.held and side.which == "lhs":
                self._pack(op, name)
            else:
                line(f"unsigned long long {name} = {self._descriptor(side, matrix)};")
        self._each(op.result, "fence", wgmma.FENCE)
        function, trips = self._multiply(op, of, found), result.registers // of.sums
        with self._writer.loop(plan.depth // of.depth, name="kk"), self._writer.loop(result.registers, of.sums):
            at = []
            for matrix, name in zip(found, names, strict=True):
                step = bits("kk", _units(matrix.step))
                of_tile = _units(matrix.tile)
                if op.held and name == names[0]:  # words, four for each step of each tile
                    step, of_tile = "kk * 4", self._words(op, result)
                tile = bits("r", ((0,) * (of.sums.bit_length() - 1) + of_tile)) if trips > 1 else ""
                at.append(plus(name, step if plan.depth > of.depth else "", tile))
            line(f"{self._values.prelude.call(function, self._at(op.result, of.sums), *at)};")
        self._plain("mt_wgmma_commit", wgmma.COMMIT)
        if not op.begun:
            self.wait(op.result)

    def wait(self, sums: Value) -> None:
        """Wait until all products are done; what adds to `sums` is one of them."""
        self._each(sums, "wait", wgmma.WAIT)

    def fence(self) -> None:
        """What threads have stored is there for the warpgroups, once all threads have met."""
        self._plain("mt_fence_async", wgmma.STORED)

    def _words(self, op: ops.Dot, result: Layout) -> BitMap:
        """The first word of the tile that each bit of a tile's number in the sums takes of a factor that is held."""
        each = WARPGROUP_ROWS * shape_of(op.lhs.type)[-1] // (2 * 128)
        return tuple(bit * each for bit in tiles(op, result)[0])

    def _pack(self, op: ops.Dot, name: str) -> None:
        """Two elements to a register, before the first instruction: what reads registers waits for none of them."""
        count = self._facts.registers(op.lhs) // 2
        pair = [f"(unsigned){self._element(op.lhs, index)}" for index in ("2 * r", "2 * r + 1")]
        self._writer.line(f"unsigned {name}[{count}];")
        with self._writer.loop(count):
            self._writer.line(f"{name}[{'r' if count > 1 else '0'}] = {pair[0]} | {pair[1]} << 16;")
        function = f"mt_wgmma_hold_x{count}"
        words = _listed((f'"+r"(word[{i}])' for i in range(count)), "\n                   ")
        self._define(function, _HOLD.format(name=function, words=words))
        self._writer.line(f"{self._values.prelude.call(function, name)};")

    def _plain(self, name: str, text: str) -> None:
        self._define(name, _PLAIN.format(name=name, text=text))
        self._writer.line(f"{self._values.prelude.call(name)};")

    def _descriptor(self, side: Side, matrix: Matrix) -> str:
        call = self._values.prelude.call
        self._define("mt_matrix", _DESCRIPTOR)
        start = plus(call("mt_shared_address", side.name), bits("threadIdx.x", matrix.thread))
        return call("mt_matrix", f"{matrix.descriptor:#x}", start)

    def _multiply(self, op: ops.Dot, of: Instruction, found: Sequence[Matrix]) -> str:
        """The function that holds the instruction."""
        name, break_ = wgmma.function(op, found), ' "\n                 "'
        registers = _listed((f"%{i}" for i in range(of.sums)), break_)
        operands = [f"%{i}" for i in range(of.sums, of.sums + (5 if op.held else 2))]
        lhs = f"{{{', '.join(operands[:-1])}}}" if op.held else operands[0]
        text = wgmma.multiply(op, found, registers, lhs, operands[-1])
        sums, type_ = _sums(of.sums, op.result), c_type(op.result.type)
        form = _HELD if op.held else _MULTIPLY
        self._define(name, form.format(name=name, type=type_, text=text, sums=sums))
        return name

    def _each(self, value: Value, what: str, text: str) -> None:
        """What comes before or after the instructions, which all sums go through."""
        registers, type_ = self._facts.registers(value), c_type(value.type)
        count = min(registers, _TOGETHER)
        name = f"mt_wgmma_{what}_{element_of(value.type)}x{count}"
        self._define(name, _ORDER.format(name=name, type=type_, text=text, sums=_sums(count, value)))
        with self._writer.loop(registers, count):
            self._writer.line(f"{self._values.prelude.call(name, self._at(value, count))};")

    def _at(self, value: Value, step: int) -> str:
        return f"&{self._values.element(value, 'r' if self._facts.registers(value) > step else '0')}"

    def _define(self, name: str, text: str) -> None:
        self._values.prelude.define(name, text)


def _units(places: BitMap) -> BitMap:
    return tuple(place // UNIT_BYTES for place in places)


def _sums(count: int, value: Value) -> str:
    element = element_of(value.type)
    letter = "f" if isinstance(element, ScalarType) and element.kind == "float" else "r"
    return _listed((f'"+{letter}"(sum[{i}])' for i in range(count)), "\n                   ")


def _listed(items: Iterator[str], break_: str) -> str:
    """Eight on a line."""
    listed = list(items)
    return f",{break_}".join(", ".join(listed[i : i + 8]) for i in range(0, len(listed), 8))
