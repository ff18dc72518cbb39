"""How a product of blocks is computed: both factors stand in shared memory, and each thread adds up the products for
the elements of the result that it holds, or tensor cores do (`mma.py`).

As many of the K columns and rows stand there at a time as the buffer holds: of the first factor [batch, M, depth] and
behind it of the second [batch, depth, N], in row-major order. Layouts permute bits, so what stands where is a bit map
of positions.

For tensor cores either axis of a matrix may be the one whose neighbours are side by side: the one along which threads
hold neighbours, so that 16 bytes stay whole on their way. Rows of such pieces of 16 bytes are *swizzled*, the number of
a piece in its row combined with that of the row: threads that read one piece of each of eight rows, or write eight of
one, then find them in different banks (which repeat every 128 bytes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.layout import Layout
from mytriton.layout.mma import fragments, instruction
from mytriton.layout.routes import SHARED_BYTES, BitMap
from mytriton.layout.swizzle import LINE_BYTES, PIECE_BYTES
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, shape_of


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor in the buffer. For each bit of a position in its block: the bits that it flips in the slot, counted
    from `start`, and the bit that it sets in the number of the round in which it is there. Where threads multiply: for
    each bit of a position in the result, the bit that it sets in the slot of what is needed for it in the first step of
    a round; step s is `stride` slots further per step."""

    start: int
    slot: BitMap
    round: BitMap
    needed: BitMap = ()
    stride: int = 0
    #: Whether neighbours along the depth are side by side, and how many bytes are before the next row begins.
    along: bool = True
    row: int = 0

    @property
    def rounds_apart(self) -> bool:
        """Whether only a part of the factor is in the buffer at a time."""
        return any(self.round)


@dataclass(frozen=True, slots=True)
class DotPlan:
    """`rounds` times, `depth` columns and rows each; the buffer has `slots` elements of the factors' type. A factor
    that is staged is in none of them: it is whole where it stands, and its slots count from there."""

    rounds: int
    depth: int
    slots: int
    lhs: Factor
    rhs: Factor


def factor_bytes(op: ops.Dot) -> int:
    """The bytes of one element of a factor."""
    element = element_of(op.lhs.type)
    assert isinstance(element, ScalarType)
    return element.bytes


def dot_plan(op: ops.Dot, layouts: Mapping[Value, Layout] | None = None) -> DotPlan:
    """How a product goes through the buffer; `layouts` are those of the factors, which matter to tensor cores. In the
    last resort one column and one row at a time are there, or what one instruction takes; if these are larger than the
    buffer is meant to be, it becomes larger (`shared_bytes`)."""
    *batch, rows, depth = shape_of(op.lhs.type)
    columns, batches, whole = shape_of(op.rhs.type)[-1], prod(batch), depth
    least = whole if op.staged or op.held else instruction(op).depth if op.instruction else 1
    while depth > least and batches * (rows + columns) * depth * factor_bytes(op) > SHARED_BYTES:
        depth //= 2
    low, high = _bits(depth), tuple(1 << i for i in range((whole // depth).bit_length() - 1))
    put = puts(op)
    slots = batches * sum(side for name, side in (("lhs", rows), ("rhs", columns)) if name in put) * depth
    start = batches * rows * depth if len(put) == 2 else 0
    if op.instruction:
        assert layouts is not None
        lhs = _swizzled(op, shape_of(op.lhs.type), layouts[op.lhs], depth, True, 0)
        rhs = _swizzled(op, shape_of(op.rhs.type), layouts[op.rhs], depth, False, start)
        return DotPlan(whole // depth, depth, slots, lhs, rhs)
    row_bits, column_bits, batch_bits = _bits(rows), _bits(columns), _bits(batches)
    lhs = Factor(
        start=0,
        slot=(*low, *_none(high), *_times(row_bits, depth), *_times(batch_bits, rows * depth)),
        round=(*_none(low), *high, *_none(row_bits), *_none(batch_bits)),
        needed=(*_none(column_bits), *_times(row_bits, depth), *_times(batch_bits, rows * depth)),
        stride=1,
    )
    rhs = Factor(
        start=start,
        slot=(*column_bits, *_times(low, columns), *_none(high), *_times(batch_bits, depth * columns)),
        round=(*_none(column_bits), *_none(low), *high, *_none(batch_bits)),
        needed=(*column_bits, *_none(row_bits), *_times(batch_bits, depth * columns)),
        stride=columns,
        along=False,
    )
    return DotPlan(whole // depth, depth, slots, lhs, rhs)


def is_staged(op: ops.Dot, side: str) -> bool:
    """Whether the factor on that side, `lhs` or `rhs`, stands in shared memory already."""
    return op.staged in (side, "both")


def puts(op: ops.Dot) -> tuple[str, ...]:
    """The factors, `lhs` and `rhs`, that threads put into the buffer: those that are neither there nor held."""
    return tuple(s for s in ("lhs", "rhs") if not is_staged(op, s) and not (op.held and s == "lhs"))


def _swizzled(op: ops.Dot, shape: tuple[int, ...], layout: Layout, depth: int, lhs: bool, start: int) -> Factor:
    """A factor for tensor cores."""
    (*batch, rows, columns), size, of = shape, factor_bytes(op), instruction(op)
    along = runs_along(layout, lhs)
    (low, high), side = _split(columns if lhs else rows, depth), _bits(rows if lhs else columns)
    apart = tuple(1 << i for i in range(len(high)))
    # What is side by side, and the axis that counts rows of it.
    inner, outer = (low, side) if along else (side, low)
    length = 1 << len(inner)
    if of.warps > 1:  # rows of at most a line, all of one line before all of the next; none for two instructions
        length = min(length, LINE_BYTES // size, length if along or lhs else of.columns)
    swizzle = _swizzle(length * size, size, 1 if of.warps > 1 or loads_matrices(size, along) else 2)
    counted = tuple(length << i ^ (swizzle[i] if i < len(swizzle) else 0) for i in range(len(outer)))
    inner = tuple(bit if bit < length else bit << len(outer) for bit in _bits(1 << len(inner)))
    inside = dict(zip((along, not along), (inner, counted), strict=True))
    k, other = (*inside[True], *_none(high)), inside[False]
    matrix = _times(_bits(prod(batch)), depth << len(side))
    turn, others = (*_none(low), *apart), _none(side)
    pairs = ((k, other), (turn, others)) if lhs else ((other, k), (others, turn))
    (first, second), (first_turn, second_turn) = pairs
    return Factor(start, (*first, *second, *matrix), (*first_turn, *second_turn, *_none(matrix)), along=along,
                  row=length * size)  # fmt: skip


def loads_matrices(size: int, along: bool) -> bool:
    """Whether `ldmatrix` reads a factor of elements of `size` bytes: it hands a thread four of 16 bytes that are side
    by side, which are to be neighbours along the depth, or two bytes of each of two rows."""
    return size == 2 or (along and size < 8)


def runs_along(layout: Layout, lhs: bool) -> bool:
    """Whether neighbours along the depth are side by side where a factor has a layout: they are of the axis along which
    threads hold neighbours, the last one or the one before."""
    ends = {1: True, layout.shape[-1]: False}
    held = (entry for entries in layout.map for entry in entries)
    return next((ends[e] for e in held if e in ends), True) == lhs


def _swizzle(row_bytes: int, size: int, together: int) -> list[int]:
    """What each bit of a row's number flips in the slot: bits of the number of a piece, of which `together` neighbours
    are read at once."""
    pieces, size_bits = min(row_bytes, LINE_BYTES) // PIECE_BYTES, (PIECE_BYTES // size).bit_length() - 1
    in_line = max(1, LINE_BYTES // row_bytes)  # rows that have different banks anyway
    flips = [1 << size_bits + i for i in range(pieces.bit_length() - 1)][together.bit_length() - 1 :]
    return [0] * (in_line.bit_length() - 1) + flips


@dataclass(frozen=True, slots=True)
class Reading:
    """How a thread reads the words of its fragment of a factor (`mma.fragments`) for one step along the depth.

    With `matrices` as many words at a time by `ldmatrix` (`.trans` if `transposed`), each lane giving the address of a
    row; else the elements of each word one by one. The others are bit maps of the slot, counted from `Factor.start`: by
    the bits of the thread's number, of the number of an element in its word, of the word and of the step.
    """

    words: int
    matrices: int
    transposed: bool
    thread: BitMap
    element: BitMap
    word: BitMap
    step: BitMap


def readings(op: ops.Dot, plan: DotPlan, result: Layout) -> tuple[Reading, Reading]:
    """How both factors of a product by tensor cores are read."""
    of, size = instruction(op), factor_bytes(op)
    first = of.word.bit_length() - 1
    found = []
    for factor, held in zip((plan.lhs, plan.rhs), fragments(op, result, plan.depth), strict=True):
        lane, warp, register = (mapped(factor.slot, entries) for entries in (held.lane, held.warp, held.register))
        steps = len(register) - (plan.depth // of.depth).bit_length() + 1
        element, word, step = register[:first], register[first:steps], register[steps:]
        matrices = min(4, 1 << len(word)) if loads_matrices(size, factor.along) else 0
        if matrices:  # lanes 0 to 7 give the rows of the first matrix, and so on
            rows = lane[2:] if factor.along else (*element, *lane[:2])
            others, left = word[: matrices.bit_length() - 1], word[matrices.bit_length() - 1 :]
            lane, word = (*rows, *others, *_none(lane[3 + len(others) :])), (*_none(others), *left)
        found.append(Reading(1 << len(word), matrices, not factor.along, (*lane, *warp), element, word, step))
    return found[0], found[1]


def mapped(bits: BitMap, entries: Sequence[int]) -> BitMap:
    """The entries of a layout, single position bits, sent through a bit map of positions."""
    return tuple(bits[entry.bit_length() - 1] if entry else 0 for entry in entries)


def _split(extent: int, inside: int) -> tuple[BitMap, BitMap]:
    bits, count = _bits(extent), inside.bit_length() - 1
    return bits[:count], bits[count:]


def _bits(extent: int) -> BitMap:
    return tuple(1 << i for i in range(extent.bit_length() - 1))


def _none(bits: BitMap) -> BitMap:
    return (0,) * len(bits)


def _times(bits: Sequence[int], factor: int) -> BitMap:
    return tuple(bit * factor for bit in bits)
