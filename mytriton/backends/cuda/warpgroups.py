"""Products by warpgroups: descriptors say where the factors stand in shared memory, and an instruction of four warps
multiplies a tile of them after the other (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mytriton.backends.cuda.instructions import TYPES
from mytriton.backends.cuda.positions import bits, plus
from mytriton.backends.cuda.section import Section
from mytriton.backends.cuda.tensor import Side
from mytriton.ir import ops
from mytriton.layout.dots import DotPlan
from mytriton.layout.mma import Instruction, instruction
from mytriton.layout.routes import BitMap
from mytriton.layout.warpgroup import Matrix, matrices
from mytriton.types import ScalarType, element_of

#: A descriptor counts in these ("Matrix Descriptor Format").
_UNIT = 16
#: The most registers that one function waits for.
_TOGETHER = 128

_DESCRIPTOR = """\
__device__ unsigned long long mt_matrix(unsigned start, unsigned leading, unsigned stride, unsigned swizzle) {
    unsigned low = (start & 0x3ffff) >> 4 | leading >> 4 << 16, high = stride >> 4 | swizzle << 30;
    return (unsigned long long)high << 32 | low;
}"""
# What is about to be read by warpgroups is written otherwise than they read.
_FENCE = """\
__device__ void mt_fence_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}"""
# The sums are named by all that follows each other, lest anything that makes or uses them comes between.
_ORDER = """\
__device__ void {name}({type}* sum) {{
    asm volatile("{text}"
                 : {sums}
                 :: "memory");
}}"""
_TEXTS = {
    "begin": "wgmma.fence.sync.aligned;",
    "end": "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
}
_MULTIPLY = """\
__device__ void {name}({type}* sum, unsigned long long lhs, unsigned long long rhs) {{
    asm volatile("wgmma.mma_async.sync.aligned.{shape}.{total}.{factor}.{factor} "
                 "{{{registers}}}, "
                 "%{count}, %{next}, 1, 1, 1{transposed};"
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
            line(f"unsigned long long {name} = {self._descriptor(side, matrix)};")
        self._each(op, result.registers, "begin")
        function, tiles = self._multiply(op, of, found), result.registers // of.sums
        with self._writer.loop(plan.depth // of.depth, name="kk"), self._writer.loop(result.registers, of.sums):
            at = []
            for matrix, name in zip(found, names, strict=True):
                step = bits("kk", _units(matrix.step))
                tile = bits("r", ((0,) * (of.sums.bit_length() - 1) + _units(matrix.tile))) if tiles > 1 else ""
                at.append(plus(name, step, tile))
            line(f"{self._values.prelude.call(function, self._sums(op, result.registers, of.sums), *at)};")
        self._each(op, result.registers, "end")

    def fence(self) -> None:
        """What threads have stored is there for the warpgroups, once all threads have met."""
        self._define("mt_fence_async", _FENCE)
        self._writer.line(f"{self._values.prelude.call('mt_fence_async')};")

    def _descriptor(self, side: Side, matrix: Matrix) -> str:
        call = self._values.prelude.call
        self._define("mt_matrix", _DESCRIPTOR)
        start = plus(call("mt_shared_address", side.name), bits("threadIdx.x", matrix.thread))
        return call("mt_matrix", start, str(matrix.leading), str(matrix.stride), str(matrix.swizzle))

    def _multiply(self, op: ops.Dot, of: Instruction, found: Sequence[Matrix]) -> str:
        """The function that holds the instruction."""
        element = element_of(op.lhs.type)
        assert isinstance(element, ScalarType)
        factor, total, _, type_, _, letter = TYPES[element]
        turned = [int(not matrix.along) for matrix in found]
        name = f"mt_wgmma_{element}_n{of.columns}" + "".join(
            f"_{n}" for n, t in zip(("m", "n"), turned, strict=True) if t
        )
        registers, sums = _listed((f"%{i}" for i in range(of.sums)), ' "\n                 "'), _sums(of.sums, letter)
        text = _MULTIPLY.format(
            name=name, type=type_, shape=of.name, total=total, factor=factor, registers=registers, count=of.sums,
            next=of.sums + 1, transposed="".join(f", {t}" for t in turned), sums=sums,
        )  # fmt: skip
        self._define(name, text)
        return name

    def _each(self, op: ops.Dot, registers: int, what: str) -> None:
        """What comes before or after the instructions, which all sums go through."""
        element = element_of(op.lhs.type)
        assert isinstance(element, ScalarType)
        _, total, _, type_, _, letter = TYPES[element]
        count = min(registers, _TOGETHER)
        name = f"mt_wgmma_{what}_{total}x{count}"
        self._define(name, _ORDER.format(name=name, type=type_, text=_TEXTS[what], sums=_sums(count, letter)))
        with self._writer.loop(registers, count):
            self._writer.line(f"{self._values.prelude.call(name, self._sums(op, registers, count))};")

    def _sums(self, op: ops.Dot, registers: int, step: int) -> str:
        return f"&{self._values.element(op.result, 'r' if registers > step else '0')}"

    def _define(self, name: str, text: str) -> None:
        self._values.prelude.define(name, text)


def _units(places: BitMap) -> BitMap:
    return tuple(place // _UNIT for place in places)


def _sums(count: int, letter: str) -> str:
    return _listed((f'"+{letter}"(sum[{i}])' for i in range(count)), "\n                   ")


def _listed(items: Iterator[str], break_: str) -> str:
    """Eight on a line."""
    listed = list(items)
    return f",{break_}".join(", ".join(listed[i : i + 8]) for i in range(0, len(listed), 8))
