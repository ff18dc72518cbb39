"""The laid-out program: what both GPU emitters print.

An operation on blocks is done once for each register of a thread, so the emitters print loops over registers. Fusing
all operations into one loop would let a thread store before it has loaded everything, and one loop an operation reads
badly; a *segment* is a run of operations that may share one loop. Operations in which threads need what other threads
hold stand by themselves, and structured operations hold the items of their blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.records import dataclass
from mytriton.stage import Change


@dataclass(frozen=True, slots=True)
class Segment:
    """Operations done together, in order, for each of `registers` registers of one layout; 1 register needs no loop.

    `layout` is None for scalar operations. The layouts of all blocks made in a segment have one `map` and differ from
    `layout` in their shapes at most; so may those of what is stored, asserted or printed. In trip r of the loop an
    operation makes register r of its result from register r of its operands, but:

    - `Broadcast` reads register `number(broadcast_registers(layouts[source], layouts[result]), r)` of its operand. It
      stands in the segment of its result; the operand's map is another (if it is not, r is read), so it is in an array
      if it has more than one register.
    - `Transpose` and `Reshape` read register r of their operand: the elements stay where they are and get other
      positions. A `Transpose` stands in the segment of its result, whose map is another than the operand's.
    - `Reshape` of a block of one element to a scalar is a scalar operation: all threads hold the element, in their one
      register. (A scalar made a block is a `Splat` here.)
    - `Store` and `Print` (of one value) are done by one of the threads that hold copies: that whose `free_bits` of
      `layouts[pointer]`, or of the printed value's, are 0; of a scalar thread 0. All do the others.

    `escaping` are the block values that other items use (later ones, nested ones, or a `Yield`), but for splats, which
    are made again from their scalar; with more than one register these are kept in per-thread arrays. (A splat that
    only operations of other maps use stands in a scalar segment.) If `barrier`, all threads of the program wait for
    each other (`__syncthreads`, `gpu.barrier`) before they enter the segment.
    """

    layout: Layout | None
    ops: tuple[Op, ...]
    escaping: tuple[Value, ...] = ()
    barrier: bool = False

    @property
    def registers(self) -> int:
        """Trips of the loop over registers."""
        return self.layout.registers if self.layout is not None else 1


#: The operations that are exchanges.
Exchanged: TypeAlias = (
    "Convert | PartialReduce | ops.Dot | Finish | ops.Pick | ops.Gather | ops.Histogram | ops.InlineAsm | Staging"
)
#: Those that are about copies under way.
Staging: TypeAlias = "AsyncCommit | AsyncWait | Staged"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One operation that combines or moves what different registers or threads hold; an operand, if a block of more
    than one register, is in an array (unless it is a splat), and so is the result. How: `routes.route` for a `Convert`
    or `Pick` through `registers` or `shuffle`, `routes.reduction` for a `PartialReduce`.

    Those through `shared` memory and across `warps`, products, gathers and histograms use one buffer of at most
    `routes.SHARED_BYTES` (a product of long columns may need more), in rounds if need be: all threads write, wait for
    each other, and read; before each further round they wait again. If `barrier`, they also wait before the first,
    since some may still be reading what an earlier exchange has left there.

    - A conversion, `Pick` or `Gather`: the element at position p of the source stands at p, that of a conversion where
      `swizzle.conversion` has it. Round k is about the positions [k * n, (k + 1) * n), for n = `round_elements`; of
      copies, the one whose free bits are 0 is written.
    - A reduction: register r of a thread stands at (r % n) * count + the place that `routes.parts` gives. Round k is
      about registers [k * n, (k + 1) * n), for n = `round_registers`; of copies, the one whose free bits are 0 is
      written.
    - A product: as `dots.dot_plan` has it; of copies of a factor, the one whose free bits are 0 is written. `acc` has
      the layout of the result, and each thread adds the products of one step after the other to its elements; or its
      warp does by tensor cores, from fragments (`mma.fragments`), or four do (`warpgroup.matrices`).
      One that is `begun` reads the buffer as late as when it is finished, and writes its sums as early as at once.
    - A histogram: the number of element p of the result stands at p, for rounds as for a conversion. In each round all
      threads put zeros there, wait, add ones for the elements they hold (of copies, one does), wait, and read.
    - A factor that is `Staged` stands where `Ring.slot` says, in its buffer; an `AsyncCopy` (in a segment, by the one
      of copies whose free bits are 0) puts it there by its `place`, `width` registers at a time. An `AsyncWait` is a
      barrier, too.
    - Assembly: on the registers [k * n, (k + 1) * n) together, for n = `pack`; operands and results have one layout. A
      thread of fewer registers gives register `i % registers` for i.
    """

    op: Exchanged
    barrier: bool = False


@dataclass(frozen=True, slots=True)
class Nested:
    """A structured operation and the items of its blocks, in the order of `op.regions`, without their `Yield`.

    A carried block value has one layout: that of the initial value, the block's parameter, the yielded value and the
    result. What is yielded, or initial, may be a splat, which no array holds. `barrier` as for a segment.
    """

    op: ops.For | ops.While | ops.If
    blocks: tuple[tuple[Item, ...], ...]
    barrier: bool = False


Item: TypeAlias = "Segment | Exchange | Nested"


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A function with a layout for every value, cut into items.

    `func` holds the conversions and partial reductions that the layout step made. Every operation but `Yield` and
    `Barrier` stands in one item, inline ones (constants, casts, splats) too, after its operands; scalars that depend on
    no load stand in the first of their block. Operations that touch memory keep their order; where a `Barrier` orders
    two of them, the second's item has `barrier`. `changes` say what was made again, converted and
    taken apart, where threads wait, and why.
    """

    func: Func
    layouts: Mapping[Value, Layout]
    items: tuple[Item, ...]
    num_warps: int
    changes: tuple[Change, ...] = ()

    def walk(self) -> Iterator[Item]:
        """Every item, outer before inner, in order."""
        stack: list[Iterator[Item]] = [iter(self.items)]
        while stack:
            for item in stack[-1]:
                yield item
                if isinstance(item, Nested):
                    stack.extend(iter(block) for block in reversed(item.blocks))
                    break
            else:
                stack.pop()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Every segment, nested ones too."""
        return tuple(item for item in self.walk() if isinstance(item, Segment))
