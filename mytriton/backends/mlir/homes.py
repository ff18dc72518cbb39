"""Where a thread keeps the block values that one item of a laid-out program makes and another uses.

A value of one register, or of one chunk of registers, is an SSA value. One of more is in a per-thread array, which LLVM
turns into registers when it unrolls the loops over it; or, if it is as cheap to make again, it is nowhere.
"""

from __future__ import annotations

from mytriton.backends.mlir.names import number, result_name
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value, walk
from mytriton.ir.ops.control import yielded
from mytriton.layout.assign import VECTOR_BYTES
from mytriton.layout.buffer import rounds
from mytriton.layout.dots import dot_plan, readings
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Finish, PartialReduce
from mytriton.layout.program import Item, LaidOut, Nested, Segment
from mytriton.layout.staging import AsyncCopy, Staged
from mytriton.layout.warpgroup import by_warpgroups
from mytriton.records import dataclass
from mytriton.target import Target
from mytriton.types import BlockType, PointerType, Type, element_of, f64, i32, is_float


@dataclass(frozen=True, slots=True)
class Home:
    """`registers` elements, in chunks of `width` (None: single elements), in `array`, or in one SSA value if None.
    `carried`: by a loop."""

    registers: int
    width: int | None
    array: str | None
    carried: bool = False

    @property
    def chunks(self) -> int:
        """Entries of the array."""
        return self.registers // (self.width or 1)


class Widths:
    """How many consecutive registers of a layout are handled together, as one vector."""

    def __init__(self, func: Func, target: Target) -> None:
        accessed = [op.pointer.type for op in func.walk() if isinstance(op, (ops.Load, ops.Store, AsyncCopy))]
        elements = [element_of(t) for t in accessed if isinstance(t, BlockType)]
        smallest = min((e.element.bytes for e in elements if isinstance(e, PointerType)), default=4)
        self._most = VECTOR_BYTES // smallest if target.abi == "pointer" else 1

    def of(self, layout: Layout | None) -> int | None:
        """None for one at a time."""
        width = min(layout.vector, self._most) if layout is not None else 1
        return width if width > 1 else None

    def of_segment(self, segment: Segment) -> int | None:
        """The same; what must be done element by element is."""
        alone = (ops.Print, ops.Atomic)
        single = any(isinstance(op, alone) or (isinstance(op, ops.Load) and op.volatile) for op in segment.ops)
        return None if single else self.of(segment.layout)


def cheap(func: Func) -> dict[Value, int]:
    """Block values that take at most `_CHEAP` integer operations from scalars and the thread's position, with their
    number: offsets, the masks made of them, addresses. Keeping these would cost more registers than it saves time."""
    costs: dict[Value, int] = {}
    for op in func.walk():
        if isinstance(op, (ops.Splat, ops.Arange)):
            costs[op.result] = 0
        elif isinstance(op, _MOVES):
            if op.source in costs:
                costs[op.result] = costs[op.source]
        elif isinstance(op, _CHEAP_OPERATIONS) and not any(is_float(v.type) for v in op.operands):
            blocks = [v for v in op.operands if isinstance(v.type, BlockType)]
            cost = 1 + sum(costs.get(v, _CHEAP) for v in blocks)
            if blocks and cost <= _CHEAP:
                costs[op.result] = cost
    return costs


_CHEAP = 4
_CHEAP_OPERATIONS = (ops.Add, ops.Sub, ops.Mul, ops.And, ops.Or, ops.Compare, ops.AddPtr)
_RENAMES = (ops.Reshape, ops.Transpose)
_MOVES = (ops.Broadcast, *_RENAMES)


class Homes(dict[Value, Home]):
    """The home of every block value that has one; `arrays`: all arrays, with the type of what they hold; `cheap`: the
    values that need none."""

    def __init__(self, laid_out: LaidOut, widths: Widths) -> None:
        super().__init__()
        self.arrays: dict[Home, Type] = {}
        self.cheap = frozenset(cheap(laid_out.func))
        self._layouts = laid_out.layouts
        self._made_by = laid_out.func.definitions
        self._widths = widths
        for item in laid_out.walk():
            if isinstance(item, Segment):
                self._segment(item, widths.of_segment(item))
            elif isinstance(item, Nested):
                for values in joined(item.op):
                    if isinstance(values[0].type, BlockType):
                        self._settle(values, widths.of(self._layouts[values[0]]), f"%v{number(values[0])}")
                self._share(item)
            elif not isinstance(item.op, Staged):  # that is no thread's
                # A product is added up in its array, step by step; what comes in rounds is there when it was its turn.
                way = rounds(item.op, laid_out.layouts)
                steps = isinstance(item.op, ops.Dot) or (way is not None and way.count > 1)
                if isinstance(item.op, Finish):  # it is where it was begun
                    self[item.op.result] = self[item.op.source]
                    continue
                for result in item.op.results:
                    self._settle((result,), None, f"%v{number(result)}", array=steps)
                if isinstance(item.op, ops.Dot) and item.op.instruction and not by_warpgroups(item.op):
                    plan, held = dot_plan(item.op, laid_out.layouts), laid_out.layouts[item.op.result]
                    word = f64 if element_of(item.op.lhs.type) == f64 else i32
                    for which, reading in zip(("lhs", "rhs"), readings(item.op, plan, held), strict=True):
                        self.arrays[fragment(item.op, which, reading.words)] = word
                if isinstance(item.op, PartialReduce) and item.op.across == "registers":
                    registers = self._layouts[item.op.source].registers // 2
                    if registers > self._layouts[item.op.result].registers:
                        self.arrays[partial_results(item.op, registers)] = element_of(item.op.source.type)

    def is_moved(self, op: Op) -> bool:
        """Whether the result is in the array of the operand, under another name."""
        return isinstance(op, _RENAMES) and op.result in self and self[op.result] is self.get(op.source)

    def _segment(self, segment: Segment, width: int | None) -> None:
        for op in segment.ops:
            block = bool(op.results) and isinstance(op.result.type, BlockType)
            source = self.get(op.source) if block and isinstance(op, _RENAMES) else None
            # What a loop carries is about to change; a name for it would change as well.
            if source is not None and source.array is not None and not source.carried:
                self[op.result] = source
        for value in segment.escaping:
            several = segment.registers > (width or 1)
            if value not in self and not (several and value in self.cheap):
                self._settle((value,), width, result_name(self._made_by[value]))

    def _share(self, nested: Nested) -> None:
        """What a block yields is written to the array of the result at once, where what that holds is not needed any
        more."""
        groups, loops = joined(nested.op), not isinstance(nested.op, ops.If)
        bodies = list(zip(nested.op.regions, nested.blocks, strict=True))
        for region, items in bodies[-1:] if loops else bodies:
            values = yielded(region)
            for group, value in zip(groups, values, strict=True):
                home, old = self.get(group[0]), group[-1] if loops else None
                maker = next((i for i, item in enumerate(items) if _makes(item, value)), None)
                if home is None or home.array is None or maker is None or value in self.cheap:
                    continue
                segment, later = items[maker], items[maker + 1 :]
                assert isinstance(segment, Segment)
                again = values.count(value) > 1 or old in values or any(old in _used(item) for item in later)
                elsewhere = any(isinstance(op, ops.Broadcast) and op.source is old for op in segment.ops)
                if not again and not elsewhere and self._widths.of_segment(segment) == home.width:
                    self[value] = home

    def _settle(self, values: tuple[Value, ...], width: int | None, name: str, array: bool = False) -> None:
        """Values that live in one place: in an array if that is asked for, or has more than one entry."""
        registers = self._layouts[values[0]].registers
        several = array or registers > (width or 1)
        home = Home(registers, width, f"%array{name.lstrip('%v')}" if several else None, len(values) > 1)
        self.update((value, home) for value in values)
        if several:
            self.arrays[home] = element_of(values[0].type)


def _makes(item: Item, value: Value) -> bool:
    return isinstance(item, Segment) and value in item.escaping


def _used(item: Item) -> set[Value]:
    """The operands of all operations of an item."""
    match item:
        case Segment():
            members: list[Op] = list(item.ops)
        case Nested():
            members = [item.op, *(op for region in item.op.regions for op in walk(region))]
        case _:
            members = [item.op]
    return {value for op in members for value in op.operands}


def partial_results(op: PartialReduce, registers: int) -> Home:
    """The array for what a reduction across registers has combined so far."""
    return Home(registers, None, f"%array{number(op.result)}_part")


def fragment(op: ops.Dot, which: str, words: int) -> Home:
    """The array for the registers of a factor that tensor cores multiply, and for those that come next."""
    return Home(2 * words, None, f"%array{number(op.result)}_{which}")


def joined(op: ops.For | ops.While | ops.If) -> list[tuple[Value, ...]]:
    """The values that are one variable: of a loop, the result and the blocks' parameters; of an `if`, the result."""
    match op:
        case ops.For():
            return list(zip(op.results, op.carried, strict=True))
        case ops.While():
            return list(zip(op.results, op.condition.params, op.body.params, strict=True))
        case _:
            return [(v,) for v in op.results]
