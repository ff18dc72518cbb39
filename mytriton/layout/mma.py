"""Products by tensor cores: what one `mma.sync` multiplies, which thread of a warp holds which element for it, and how
the factors are read from shared memory.

The fragments are those of the PTX ISA ("Matrix Fragments for mma.m16n8k16" and its siblings), as linear maps over F2
like every layout: a register holds 32 bits of neighbours along the depth, four lanes hold the neighbours of these, and
eight lanes rows of the first factor or columns of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from mytriton.ir import ops
from mytriton.ir.core import Func, Value
from mytriton.layout.layout import Layout
from mytriton.records import dataclass
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, element_of, f16, f32, f64, i8, shape_of, u8

#: The generation of chips from which on there are all of the instructions.
FIRST_GENERATION = 80

#: The rows that four warps multiply together.
WARPGROUP_ROWS = 64


@dataclass(frozen=True, slots=True)
class Instruction:
    """One shape of `mma.sync`, or of `wgmma.mma_async` (`warpgroup.py`): `rows` x `depth` times `depth` x `columns`,
    with `word` elements of a factor in one register. `warps` work at it together."""

    rows: int
    columns: int
    depth: int
    word: int
    warps: int = 1

    @property
    def name(self) -> str:
        """As PTX spells the shape."""
        return f"m{self.rows}n{self.columns}k{self.depth}"

    @property
    def sums(self) -> int:
        """Elements of the result in each thread."""
        return self.rows * self.columns // (32 * self.warps)

    @property
    def words(self) -> tuple[int, int]:
        """Registers of the first and of the second factor in each thread."""
        return self.rows * self.depth // (32 * self.word), self.columns * self.depth // (32 * self.word)

    @property
    def tables(self) -> tuple[Layout, Layout, Layout]:
        """Which thread holds what: of the factors, a word at a time (if threads hold them), and of the sums."""
        n, m = _bits(self.columns, 1), _bits(self.rows, self.columns)
        a, b = _bits(self.depth, 1), _bits(self.depth, self.columns)
        at, rows = self.word.bit_length() - 1, _bits(self.rows, self.depth)
        lhs = Layout((self.rows, self.depth), (*a[:at], *rows[3:], *a[at + 2 :]), (*a[at : at + 2], *rows[:3]), ())
        rhs = Layout((self.depth, self.columns), (*b[:at], *b[at + 2 :]), (*b[at : at + 2], *n), ())
        sums = Layout((self.rows, self.columns), (n[0], *m[3:4], *n[3:]), (*n[1:3], *m[:3]), tuple(m[4:]))
        return lhs, rhs, sums


#: By the type of the factors.
INSTRUCTIONS: dict[ScalarType, Instruction] = {
    **dict.fromkeys((f16, bf16), Instruction(16, 8, 16, 2)),
    f32: Instruction(16, 8, 8, 1),
    **dict.fromkeys((i8, u8), Instruction(16, 8, 32, 4)),
    f64: Instruction(8, 8, 4, 1),
}

#: Float64 by larger pieces, which later chips have, and by which they are faster.
LARGE_F64, _LARGE_GENERATION = Instruction(16, 8, 16, 1), 90


def instruction(op: ops.Dot) -> Instruction:
    """The instruction for the type of the factors, as the layout step has chosen it."""
    element = element_of(op.lhs.type)
    assert isinstance(element, ScalarType)
    if op.instruction.startswith(f"m{WARPGROUP_ROWS}"):
        return of_warpgroup(element, int(op.instruction[len(f"m{WARPGROUP_ROWS}n") :].split("k")[0]))
    return LARGE_F64 if (element, op.instruction) == (f64, LARGE_F64.name) else INSTRUCTIONS[element]


def of_warpgroup(element: ScalarType, columns: int) -> Instruction:
    """The instruction of four warps for as many columns."""
    return replace(INSTRUCTIONS[element], rows=WARPGROUP_ROWS, columns=columns, warps=4)


def chosen(op: ops.Dot, target: Target, most_bytes: int) -> Instruction | None:
    """The instruction that computes a product on the target; None where threads multiply by themselves: there is none,
    the blocks are smaller, float32 must keep its precision, or one step of the depth takes more than `most_bytes`."""
    element, batch = element_of(op.lhs.type), shape_of(op.lhs.type)[:-2]
    if target.generation < FIRST_GENERATION or target.form == "plain":
        return None
    if target.abi == "memref" or (element == f32 and op.precision not in ("tf32", "tf32x3")):
        return None
    found, (rows, depth), columns = instruction(op), shape_of(op.lhs.type)[-2:], shape_of(op.rhs.type)[-1]
    if rows < found.rows or columns < found.columns or depth < found.depth:
        return None
    assert isinstance(element, ScalarType)
    # (MLIR's nvvm dialect does not know it)
    large = element == f64 and target.generation >= _LARGE_GENERATION and target.backend != "mlir"
    if large and rows >= LARGE_F64.rows and depth >= LARGE_F64.depth:
        found = LARGE_F64
    step = prod(batch) * (rows + columns) * found.depth * element.bytes
    return found if step <= most_bytes else None


def rows_first(func: Func) -> bool:
    """Whether the warps had better share rows: what is made of a product is the first factor of another, as in
    attention. Then both have their rows in the same warps, and so has what is summed up along them."""
    made = set[Value]()
    for op in func.walk():
        if isinstance(op, ops.Dot):
            if op.lhs in made:
                return True
            made.add(op.result)
        elif made and not made.isdisjoint(op.operands):
            made.update(op.results)
    return False


def sums(shape: Sequence[int], of: Instruction, num_warps: int, by_rows: bool = False) -> Layout:
    """The layout of a product: the instruction's own, repeated along the columns, the rows and the batch. Warps take
    matrices of the batch first, then parts of the longer side of what is left to each, or rows as long as there are
    some (`by_rows`)."""
    *batch, rows, columns = shape
    (_, n), (_, m) = _split(_bits(columns, 1), of.columns), _split(_bits(rows, columns), of.rows)
    b, warp = _bits(prod(batch), rows * columns), [e // of.columns * columns for e in of.tables[2].warp]
    while 1 << len(warp) < num_warps and (b or m or n):
        longer = m if m and (by_rows or not n or of.rows << len(m) >= of.columns << len(n)) else n
        warp.append((b or longer).pop())
    warp += [0] * (num_warps.bit_length() - 1 - len(warp))
    return _repeated(of.tables[2], shape, (*n, *m, *b), warp)


def fragments(op: ops.Dot, result: Layout, depth: int) -> tuple[Layout, Layout]:
    """How the threads hold both factors for `depth` columns and rows, given the layout of the product. The registers
    count the elements of a word, the words of an instruction, its tiles along the rows or columns (and the batch), and
    then the steps along the depth."""
    of, found = instruction(op), []
    for lhs, factor, table in zip((True, False), (op.lhs, op.rhs), of.tables, strict=False):
        shape, names = shape_of(factor.type), factor_bits(op, lhs)
        steps = _split(_bits(depth, 1 if lhs else shape[-1]), of.depth)[1]
        tiles = [names[e] for e in _tiles(of, result) if names[e]]
        found.append(_repeated(table, shape, (*tiles, *steps), [names[e] for e in result.warp]))
    return found[0], found[1]


def tiles(op: ops.Dot, result: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """For each bit of the number of an instruction's tile in a thread's registers of the product: the bit of the number
    of the tile that it takes of the first factor, and of the second."""
    found = []
    for lhs in (True, False):
        names, bits, following = factor_bits(op, lhs), [], 1
        for entry in _tiles(instruction(op), result):
            bits.append(following if names[entry] else 0)
            following <<= bool(names[entry])
        found.append(tuple(bits))
    return found[0], found[1]


def _tiles(of: Instruction, result: Layout) -> tuple[int, ...]:
    return result.register[of.sums.bit_length() - 1 :]


def _repeated(table: Layout, shape: Sequence[int], registers: Sequence[int], warp: Sequence[int]) -> Layout:
    """An instruction's table as a part of a larger block, with more registers, and warps."""
    small, large = table.shape[-1], shape[-1]
    register, lane = (tuple(e if e < small else e // small * large for e in held) for held in table.map[:2])
    return Layout(tuple(shape), (*register, *registers), lane, tuple(warp))


def factor_bits(op: ops.Dot, lhs: bool) -> dict[int, int]:
    """For each position bit of the product that of the factor it belongs to; 0 for those of the other factor."""
    *batch, rows, depth = shape_of(op.lhs.type)
    columns = shape_of(op.rhs.type)[-1]
    n, m, b = _bits(columns, 1), _bits(rows, columns), _bits(prod(batch), rows * columns)
    row, column, matrix = (depth, 0, rows * depth) if lhs else (0, 1, depth * columns)
    found = {0: 0}
    for bits, unit in ((n, column), (m, row), (b, matrix)):
        found |= {bit: unit << i for i, bit in enumerate(bits)}
    return found


def _bits(extent: int, unit: int) -> list[int]:
    """The position bits of an axis whose neighbours are `unit` apart."""
    return [unit << i for i in range(extent.bit_length() - 1)]


def _split(bits: list[int], extent: int) -> tuple[list[int], list[int]]:
    """Those inside of `extent`, and the others."""
    inside = extent.bit_length() - 1
    return bits[:inside], bits[inside:]
