"""What threads combine or hand to each other: registers in trees, lanes by shuffles, warps through shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mytriton.backends.cuda.assembly import Assembly
from mytriton.backends.cuda.conversions import Conversions
from mytriton.backends.cuda.dots import Dots
from mytriton.backends.cuda.expressions import without_parentheses
from mytriton.backends.cuda.facts import Facts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.positions import bits, owner, plus, position
from mytriton.backends.cuda.section import Section
from mytriton.backends.cuda.staging import Staging
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.writer import Writer
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.buffer import Rounds, rounds
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.program import Exchange, Exchanged
from mytriton.layout.routes import BitMap, Reduction, gathered_unit, parts, picked, picked_flip, reduction, route
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.records import dataclass
from mytriton.types import element_of, is_pointer

#: The kernel's buffer in shared memory.
SHARED = "mt_shared"
_WHOLE_WARP = "0xffffffffu"


class Exchanges(Section):
    """Prints the exchanges of one kernel."""

    def __init__(self, facts: Facts, values: Values, writer: Writer) -> None:
        super().__init__(facts, values, writer)
        self._dot = Dots(facts, values, writer, SHARED)
        self._assembly = Assembly(facts, values, writer)
        self._staging = Staging(facts, values, writer, SHARED)
        self._conversions = Conversions(facts, values, writer)

    def __call__(self, exchange: Exchange) -> None:
        """Write an exchange."""
        op = exchange.op
        self._writer.start(op.span, (*op.results, *op.operands))
        if isinstance(op, ops.InlineAsm):
            if exchange.barrier:
                self._writer.line("__syncthreads();")
            self._assembly(op)
            return
        if isinstance(op, (AsyncCommit, AsyncWait, Staged)):
            self._staging(op)
            return
        self._values.declare_array(op.result)
        if isinstance(op, ops.Dot):
            self._dot(op, exchange.barrier)
            return
        if isinstance(op, Finish):
            self._dot.finish(op)
            return
        if isinstance(op, PartialReduce):
            layout = self._facts.laid_out.layouts[op.source]
            plan = reduction(layout, op.axis, op.bits, op.across)
            match op.across:
                case "registers":
                    self._registers(op, plan)
                case "lanes":
                    self._lanes(op, plan)
                case _:
                    self._warps(exchange, op, layout, plan)
        elif isinstance(op, ops.Histogram):
            self._count(exchange, op)
        elif isinstance(op, Convert):
            self._convert(exchange, op) if op.through == "shared" else self._within_warps(op)
        elif isinstance(op, ops.Gather) or op.through == "shared":
            self._through_shared(exchange, op)
        else:
            self._within_warps(op)

    # --- reductions ---------------------------------------------------------------------------------------------------

    def _combined(self, op: PartialReduce, x: str, y: str) -> str:
        element = element_of(op.source.type)
        # An operation that no one knows the ranges of: the sum of all elements may wrap where that of two may not.
        unknown = Value("", element)
        combine = ops.COMBINE[op.combine](lhs=unknown, rhs=unknown, results=(unknown,))
        return self._values.expressions(combine, element, [x, y], [None, None])

    def _tree(
        self, op: PartialReduce, masks: Sequence[int], count: int, read: Callable[[str, BitMap, int], str], index: str
    ) -> str:
        """Combine `count` elements by the bits `masks` of their numbers, in halves: a serial chain would lose what a
        tree keeps. `read` gives the element whose number is a bit map of the number `index`, plus another number. The
        last step is the text that is returned; what it combines is in an array."""
        array = self._values.own_name(op.result, "tree")
        levels = list(_levels(masks, count))
        for level in levels[:-1]:
            if level is levels[0]:
                self._writer.line(f"{c_type(op.result.type)} {array}[{level.count}];")
            with self._writer.loop(level.count, name=index):
                text = self._combined(op, *(read(index, level.low, n) for n in (0, level.high)))
                self._writer.line(f"{array}[{index}] = {without_parentheses(text)};")
            read = lambda of, low, n: f"{array}[{without_parentheses(plus(bits(of, low), str(n)))}]"  # noqa: E731
        return self._combined(op, *(read(index, levels[-1].low, n) for n in (0, levels[-1].high)))

    def _registers(self, op: PartialReduce, plan: Reduction) -> None:
        read = lambda of, low, n: self._element(op.source, plus(bits(of, low), str(n)))  # noqa: E731
        last = self._tree(op, plan.combined, self._facts.registers(op.source), read, "r")
        with self._writer.loop(self._facts.registers(op.result)):
            self._set(op.result, last)

    def _lanes(self, op: PartialReduce, plan: Reduction) -> None:
        with self._writer.loop(self._facts.registers(op.result)):
            self._set(op.result, self._element(op.source))
            result = self._element(op.result)
            for high, low in _runs(plan.combined):
                if high == low:
                    self._set(op.result, self._combined(op, result, self._shuffle_xor(result, str(high))))
                    continue
                self._writer.line("#pragma unroll")
                end = f"lane >= {low}" if low > 1 else "lane > 0"
                with self._writer.block(f"for (int lane = {high}; {end}; lane /= 2)"):
                    self._set(op.result, self._combined(op, result, self._shuffle_xor(result, "lane")))

    def _shuffle_xor(self, text: str, mask: str) -> str:
        return f"__shfl_xor_sync({_WHOLE_WARP}, {text}, {mask})"

    # --- shared memory ------------------------------------------------------------------------------------------------

    def _warps(self, exchange: Exchange, op: PartialReduce, layout: Layout, plan: Reduction) -> None:
        way = rounds(op, self._facts.laid_out.layouts)
        assert way is not None
        places = parts(layout, plan.combined)
        row = _times("r", places.count) if way.size > 1 else ""
        buffer = self._buffer(op, "parts")

        def read(of: str, low: BitMap, n: int) -> str:
            return f"{buffer}[{plus(bits('threadIdx.x', places.read), bits(of, low), str(n), row)}]"

        with self._each_round(way, exchange.barrier) as register:
            with self._under(owner(layout, self._facts.target.threads)), self._writer.loop(way.size):
                own = without_parentheses(plus(bits("threadIdx.x", places.write), row))
                self._writer.line(f"{buffer}[{own}] = {self._element(op.source, register)};")
            self._writer.line("__syncthreads();")
            with self._writer.loop(way.size):
                count = 1 << len(plan.combined)
                last = self._tree(op, [1 << i for i in range(len(plan.combined))], count, read, "part")
                self._set(op.result, last, register)

    def _sides(self, op: Convert | ops.Pick | ops.Gather) -> tuple[Layout, Layout, int]:
        """Where the elements are, the positions that are wanted, and the bits of these that are flipped."""
        have, want = (self._facts.laid_out.layouts[v] for v in (op.source, op.result))
        return (have, want, 0) if isinstance(op, Convert) else (have, picked(op, want), picked_flip(op))

    def _convert(self, exchange: Exchange, op: Convert) -> None:
        way = rounds(op, self._facts.laid_out.layouts)
        assert way is not None
        buffer = self._buffer(op, "block")
        self._declare(op, way)
        with self._each_round(way, exchange.barrier):
            self._conversions(op, way, buffer)

    def _through_shared(self, exchange: Exchange, op: ops.Pick | ops.Gather) -> None:
        way = rounds(op, self._facts.laid_out.layouts)
        assert way is not None
        have, want, flip = self._sides(op)
        buffer = self._buffer(op, "block")
        self._declare(op, way)
        with self._each_round(way, exchange.barrier):
            with self._writer.loop(have.registers):
                at, inside = self._turn(op, position(have, 0), way)
                with self._under([*inside, *owner(have, self._facts.target.threads)]):
                    self._writer.line(f"{buffer}[{at}] = {self._element(op.source)};")
            self._writer.line("__syncthreads();")
            with self._values.loop(want.registers):
                along = _times(self._values(op.index), gathered_unit(op)) if isinstance(op, ops.Gather) else ""
                self._receive(op, buffer, plus(_flipped(position(want, 0), flip), along), way)

    def _receive(self, op: Exchanged, buffer: str, place: str, way: Rounds) -> None:
        """Register `r` of the result, from its place in the buffer."""
        at, inside = self._turn(op, place, way)
        with self._under(inside):
            self._set(op.result, f"{buffer}[{at}]")

    def _count(self, exchange: Exchange, op: ops.Histogram) -> None:
        way, threads = rounds(op, self._facts.laid_out.layouts), self._facts.target.threads
        assert way is not None
        have, want = (self._facts.laid_out.layouts[v] for v in (op.source, op.result))
        counts, bin_, line = self._buffer(op, "counts"), self._values.own_name(op.result, "bin"), self._writer.line
        self._declare(op, way)
        with self._each_round(way, exchange.barrier):
            line(f"for (int i = threadIdx.x; i < {way.size}; i += {threads}) {counts}[i] = 0;")
            line("__syncthreads();")
            with self._values.loop(have.registers):
                first = f" - round * {way.size}u" if way.count > 1 else ""
                line(f"unsigned {bin_} = {without_parentheses(self._values(op.source))}{first};")
                conditions = [f"{bin_} < {way.size}u", *owner(have, threads)]
                with self._under([*conditions, *([self._values(op.mask)] if op.mask is not None else [])]):
                    line(f"atomicAdd(&{counts}[{bin_}], 1);")
            line("__syncthreads();")
            with self._values.loop(want.registers):
                self._receive(op, counts, position(want, 0), way)

    def _declare(self, op: Exchanged, way: Rounds) -> None:
        """Declare the result outside of the rounds."""
        if way.count > 1:
            self._values.declare(op.result)

    def _turn(self, op: Exchanged, place: str, way: Rounds) -> tuple[str, list[str]]:
        """The place in the buffer in this round, and the condition that its turn has come."""
        if way.count == 1:
            return place, []
        at = self._values.own_name(op.result, "at")
        self._writer.line(f"int {at} = {place};")
        return f"{at} & {way.size - 1}", [f"{at} >> {way.size.bit_length() - 1} == round"]

    def _buffer(self, op: Convert | PartialReduce | ops.Pick | ops.Gather | ops.Histogram, what: str) -> str:
        held = op.result if isinstance(op, ops.Histogram) else op.source
        name, type_ = self._values.own_name(op.result, what), c_type(held.type)
        self._writer.line(f"{type_}* {name} = ({type_}*){SHARED};")
        return name

    @contextmanager
    def _each_round(self, way: Rounds, barrier: bool) -> Iterator[str]:
        """The rounds of an exchange; gives the index of the register that is number `r` of a round."""
        if way.count == 1:
            if barrier:
                self._writer.line("__syncthreads();")
            yield "r"
            return
        self._writer.line("#pragma unroll")
        with self._writer.block(f"for (int round = 0; round < {way.count}; ++round)"):
            self._writer.line("__syncthreads();")
            yield plus(_times("round", way.size), "r" if way.size > 1 else "")

    # --- within a warp ------------------------------------------------------------------------------------------------

    def _within_warps(self, op: Convert | ops.Pick) -> None:
        way = route(*self._sides(op))
        assert way is not None, "the layout step would have gone through shared memory"
        with self._writer.loop(self._facts.registers(op.result)):
            text = self._element(op.source, _flipped(bits("r", way.register), way.flip_register))
            if not way.stays:
                by_thread = bits("threadIdx.x", [*way.lane_by_lane, *way.lane_by_warp])
                lane = _flipped(plus(by_thread, bits("r", way.lane_by_register)), way.flip_lane)
                if is_pointer(op.source.type):
                    text = f"({c_type(op.source.type)})__shfl_sync({_WHOLE_WARP}, (unsigned long long){text}, {lane})"
                else:
                    text = f"__shfl_sync({_WHOLE_WARP}, {text}, {lane})"
            self._set(op.result, text)


@dataclass(frozen=True)
class _Level:
    """A step of a tree, which combines `count` pairs: the bit map of the number of each to that of its first element,
    and what is added for the second."""

    count: int
    low: BitMap
    high: int


def _levels(masks: Sequence[int], count: int) -> Iterator[_Level]:
    """The steps that combine `count` elements by bits of their numbers: the highest first, whose pairs are halves."""
    left = [1 << i for i in range(count.bit_length() - 1)]
    for mask in sorted(masks, reverse=True):
        bit = left.index(mask)
        left.pop(bit)
        yield _Level(1 << len(left), tuple(1 << i + (i >= bit) for i in range(len(left))), 1 << bit)


def _runs(masks: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Single-bit masks, in runs of consecutive bits: the highest and the lowest of each, the highest run first."""
    high = 0
    for mask in sorted(masks, reverse=True):
        high = high or mask
        if mask >> 1 not in masks:
            yield high, mask
            high = 0


def _flipped(text: str, flip: int) -> str:
    if not flip or text == "0":
        return text if not flip else str(flip)
    return f"({text}) ^ {flip}" if " " in text else f"{text} ^ {flip}"


def _times(text: str, factor: int) -> str:
    if text.isdecimal():
        return str(int(text) * factor)
    return text if factor == 1 else f"({text}) * {factor}" if " " in text else f"{text} * {factor}"
