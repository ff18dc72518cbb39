"""Products by warpgroups in emitted gpu-dialect MLIR: descriptors say where the factors stand in workgroup memory, and
an instruction of four warps multiplies a tile of them after the other.

The instructions are inline assembly in functions beside the kernel, one for each shape, since they name all sums of a
thread. LLVM puts these where they are called, and the array that holds the sums into registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.places import THREAD, place
from mytriton.backends.mlir.shared import Shared
from mytriton.backends.mlir.tensor import Side
from mytriton.backends.nvidia import wgmma
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import DotPlan, factor_bytes
from mytriton.layout.mma import WARPGROUP_ROWS, instruction, tiles
from mytriton.layout.routes import BitMap
from mytriton.layout.warpgroup import UNIT_BYTES, Matrix, matrices
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, i32, shape_of

_I64 = ScalarType("i64", "int", 64)
#: The bits of an address in shared memory that a descriptor has.
_ADDRESS = 0x3FFFF
_ASM = "llvm.inline_asm has_side_effects asm_dialect = att"


class Warpgroups:
    """Writes what is done between the barriers of a round, and the functions that it calls."""

    def __init__(self, context: Context, shared: Shared) -> None:
        self._context, self._text, self._shared = context, context.text, shared
        self._functions: dict[str, tuple[list[str], Span | None, tuple[str, ...]]] = {}

    def emit(self, op: ops.Dot, plan: DotPlan, sides: Sequence[Side]) -> None:
        """Add the products of the columns and rows that are there."""
        result, of, text = self._context.layouts[op.result], instruction(op), self._text
        found = matrices(op, plan, result)
        firsts = [
            self._held(op) if op.held and side.which == "lhs" else self._descriptor(op, side, matrix)
            for side, matrix in zip(sides, found, strict=True)
        ]
        self._through(op.result, "fence", wgmma.FENCE)
        steps, trips = plan.depth // of.depth, result.registers // of.sums
        with self._loop(steps, "%step"), self._loop(trips, "%r"):
            operands = [self._sums(op.result, of.sums, trips)]
            for side, matrix, first in zip(sides, found, firsts, strict=True):
                if op.held and side.which == "lhs":
                    operands.append(self._fragment(op, first, steps, trips))
                    continue
                sources = [("%step", _units(matrix.step))] if steps > 1 else []
                sources += [("%r", _units(matrix.tile))] if trips > 1 else []
                operands.append(self._moved(first, sources, f"{side.stem}_matrix"))
            name = self._multiply(op, found)
            types = f"!llvm.ptr, {'!llvm.ptr' if op.held else 'i64'}, i64"
            text.write(f"llvm.call @{name}({', '.join(operands)}) : ({types}) -> ()")
        self._plain(wgmma.COMMIT)
        if not op.begun:
            self.wait(op.result)

    def wait(self, sums: Value) -> None:
        """Wait until all products are done; what adds to `sums` is one of them."""
        self._through(sums, "wait", wgmma.WAIT)

    def fence(self) -> None:
        """What threads have stored is there for the warpgroups, once all threads have met."""
        self._plain(wgmma.STORED)

    def _plain(self, text: str) -> None:
        self._text.write(f'{_ASM} "{text}", "~{{memory}}" : () -> ()')

    def functions(self) -> None:
        """Write the functions that were called, beside the kernel."""
        for lines, span, values in self._functions.values():
            self._text.at(span, values)
            with self._text.region(lines[0]):
                for line in lines[1:]:
                    self._text.write(line)

    # --- descriptors --------------------------------------------------------------------------------------------------

    def _descriptor(self, op: ops.Dot, side: Side, matrix: Matrix) -> str:
        """That of the first matrix of this warpgroup."""
        text, stem, size = self._text, side.stem, factor_bytes(op)
        shared, address = text.fresh(f"{stem}_shared"), text.fresh(f"{stem}_address")
        text.write(f"{shared} = llvm.ptrtoint {self._shared.pointer()} : !llvm.ptr<3> to i32")
        start = shared
        for name, masks in ((side.base, _bits(size)), (THREAD, matrix.thread)):
            if (part := place(text, [(name, masks)], text.fresh(f"{stem}_part"))) is not None:
                before, start = start, text.fresh(f"{stem}_start")
                text.write(f"{start} = arith.addi {before}, {part} : i32")
        inside, units, wide = (text.fresh(f"{stem}_{what}") for what in ("inside", "units", "wide"))
        text.write(f"{inside} = arith.andi {start}, {text.i32(_ADDRESS)} : i32")
        text.write(f"{units} = arith.shrui {inside}, {text.i32(UNIT_BYTES.bit_length() - 1)} : i32")
        text.write(f"{wide} = arith.extui {units} : i32 to i64")
        text.write(f"{address} = arith.ori {wide}, {text.constant(matrix.descriptor, _I64)} : i64")
        return address

    def _moved(self, first: str, sources: list[tuple[str, BitMap]], stem: str) -> str:
        """The descriptor of a later matrix."""
        text = self._text
        if (units := place(text, sources, text.fresh(f"{stem}_units"))) is None:
            return first
        wide, moved = text.fresh(f"{stem}_further"), text.fresh(stem)
        text.write(f"{wide} = arith.extui {units} : i32 to i64")
        text.write(f"{moved} = arith.addi {first}, {wide} : i64")
        return moved

    # --- a factor in registers ----------------------------------------------------------------------------------------

    def _held(self, op: ops.Dot) -> str:
        """The array of the first factor, whose registers are made before the first instruction: what reads them waits
        for none."""
        array, words = self._context.homes[op.lhs].array, self._context.layouts[op.lhs].registers // 2
        assert array is not None, "a factor of an instruction has eight registers"
        name = f"mt_wgmma_hold_x{words}"
        self._function(name, i32, words, "", ())
        self._text.write(f"llvm.call @{name}({array}) : (!llvm.ptr) -> ()")
        return array

    def _fragment(self, op: ops.Dot, array: str, steps: int, trips: int) -> str:
        """A pointer to the elements of one step of a tile."""
        text, stem = self._text, f"%held{number(op.result)}"
        each = WARPGROUP_ROWS * shape_of(op.lhs.type)[-1] // 128
        sources = [("%step", tuple(8 << i for i in range(steps.bit_length() - 1)))] if steps > 1 else []
        of_tile = tuple(bit * each for bit in tiles(op, self._context.layouts[op.result])[0])
        sources += [("%r", of_tile)] if trips > 1 else []
        if (at := place(text, sources, text.fresh(f"{stem}_at"))) is None:
            return array
        name = text.fresh(stem)
        text.write(f"{name} = llvm.getelementptr {array}[{at}] : (!llvm.ptr, i32) -> !llvm.ptr, i16")
        return name

    # --- sums ---------------------------------------------------------------------------------------------------------

    def _loop(self, trips: int, counter: str) -> AbstractContextManager[None]:
        return self._context.loop(trips, counter, MAX_UNROLL_SINGLE) if trips > 1 else nullcontext()

    def _sums(self, value: Value, count: int, trips: int) -> str:
        """A pointer to those of a trip."""
        text, array = self._text, self._context.homes[value].array
        assert array is not None, "a product is added up in an array"
        if trips == 1:
            return array
        first, name = text.fresh(f"%first{number(value)}"), text.fresh(f"%sums{number(value)}")
        text.write(f"{first} = arith.muli %r, {text.i32(count)} : i32")
        type_ = _element(value).signless
        text.write(f"{name} = llvm.getelementptr {array}[{first}] : (!llvm.ptr, i32) -> !llvm.ptr, {type_}")
        return name

    def _through(self, value: Value, what: str, text: str) -> None:
        """What comes before or after the instructions, which all sums go through."""
        count, element = self._context.layouts[value].registers, _element(value)
        name = f"mt_wgmma_{what}_{element}x{count}"
        self._function(name, element, count, text, ())
        self._text.write(f"llvm.call @{name}({self._context.homes[value].array}) : (!llvm.ptr) -> ()")

    def _multiply(self, op: ops.Dot, found: Sequence[Matrix]) -> str:
        """The function that holds the instruction."""
        of, name = instruction(op), wgmma.function(op, found)
        sums, operands = _listed(f"${i}" for i in range(of.sums)), [f"${2 * of.sums + i}" for i in range(5)]
        lhs, rhs = (f"{{{_listed(operands[:4])}}}", operands[4]) if op.held else operands[:2]
        text = wgmma.multiply(op, found, sums, lhs, rhs)
        self._function(name, _element(op.result), of.sums, text, ("%lhs", "%rhs"), op.held)
        return name

    def _function(
        self, name: str, element: ScalarType, count: int, assembly_: str, matrices_: Sequence[str], held: bool = False
    ) -> None:
        """A function that takes a pointer to the sums, and descriptors, and updates all sums at once. Of a factor that
        is held it takes a pointer, too."""
        if name in self._functions:
            return
        type_, letter = element.signless, "f" if element.kind == "float" else "r"
        struct, array = f"!llvm.struct<({_listed([type_] * count)})>", f"!llvm.array<{count} x {type_}>"
        names = [f"%s{i}" for i in range(count)]
        words = [f"%w{i}" for i in range(4)] if held else []
        others = [*words, *(matrices_[1:] if held else matrices_)]
        given = [*["i32"] * len(words), *["i64"] * (len(others) - len(words))]
        letters = ["r" if of == "i32" else "l" for of in given]
        constraints = [*[f"={letter}"] * count, *map(str, range(count)), *letters, "~{memory}"]
        pointers = ("%sums", *matrices_[:1]) if held else ("%sums",)
        params = _listed(f"{p}: {'!llvm.ptr' if p in pointers else 'i64'}" for p in ("%sums", *matrices_))
        types = _listed([*[type_] * count, *given])
        lines = [
            f"llvm.func internal @{name}({params}) attributes {{always_inline}}",
            f"%before = llvm.load %sums {{alignment = 16 : i64}} : !llvm.ptr -> {array}",
            *(f"{n} = llvm.extractvalue %before[{i}] : {array}" for i, n in enumerate(names)),
            *(["%words = llvm.load %lhs {alignment = 4 : i64} : !llvm.ptr -> !llvm.array<4 x i32>"] if held else []),
            *(f"{word} = llvm.extractvalue %words[{i}] : !llvm.array<4 x i32>" for i, word in enumerate(words)),
            f'%after = {_ASM} "{assembly_}", "{",".join(constraints)}" {_listed([*names, *others])} : '
            f"({types}) -> {struct}",
            f"llvm.store %after, %sums {{alignment = 16 : i64}} : {struct}, !llvm.ptr",
            "llvm.return",
        ]
        self._functions[name] = lines, self._text.span, self._text.values


def _units(places: BitMap) -> BitMap:
    return tuple(place_ // UNIT_BYTES for place_ in places)


def _bits(unit: int) -> BitMap:
    """Those of a number of elements, in bytes."""
    return tuple(unit << i for i in range(18))


def _listed(items: Iterable[str]) -> str:
    return ", ".join(items)


def _element(value: Value) -> ScalarType:
    element = element_of(value.type)
    assert isinstance(element, ScalarType)
    return element
