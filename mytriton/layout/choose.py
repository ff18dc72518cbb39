"""Chooses a layout for every block value.

Loads and stores are what layouts are for: all blocks of one size have one layout there, whose chunks are as wide as
the widest memory access (16 bytes) holds of the smallest element loaded or stored at that size. Where addresses follow
each other along columns, so do registers and lanes (`Orders.by_columns`). From there they follow:
an operation has the layout of its operands, a reduction's result that of what is left, and a block that is to be
broadcast is loaded in the slice that the broadcast needs. Values that are cheap to make have no layout of their own:
they are made in every layout that someone wants (`rewrite.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from math import prod

from mytriton.analysis.ranges import value_ranges
from mytriton.ir import ops
from mytriton.ir.core import Effect, Func, Op, Value
from mytriton.ir.ops import functions
from mytriton.ir.ops.control import yielded
from mytriton.layout import mma, warpgroup
from mytriton.layout.dots import runs_along
from mytriton.layout.layout import Layout, blocked, by_columns
from mytriton.layout.orders import Orders
from mytriton.layout.routes import SHARED_BYTES
from mytriton.records import dataclass
from mytriton.target import Target
from mytriton.types import BlockType, PointerType, element_of, is_float, shape_of

#: The widest access a thread makes, in bytes (PTX ISA, "Vectors": .v4.b32).
VECTOR_BYTES = 16

#: How many operations it may take to make a value once more.
_CHEAP = 24
_FUNCTIONS = [c for c in vars(functions).values() if isinstance(c, type) and c.__module__ == functions.__name__]
_COSTS: dict[type[Op], int] = {ops.Div: 6, ops.FloorDiv: 6, ops.Mod: 6, **dict.fromkeys(_FUNCTIONS, _CHEAP + 1)}

#: Threads need what others hold for these.
_EXCHANGED = (ops.Reduce, ops.Dot, ops.Pick, ops.Gather, ops.Histogram)

#: Gives the layout that blocks of a shape have at loads and stores, along rows or by columns.
Anchors = Callable[[tuple[int, ...], bool], Layout]


def anchors(func: Func, target: Target) -> Anchors:
    """The layouts at loads and stores; a thread's elements are not consecutive where there are no vectors: with
    `form="plain"`, and in the memref form, whose accesses are of one element."""
    smallest: dict[int, int] = {}
    for op in func.walk():
        if isinstance(op, (ops.Load, ops.Store)) and isinstance(op.pointer.type, BlockType):
            element = element_of(op.pointer.type)
            assert isinstance(element, PointerType)
            size = prod(op.pointer.type.shape)
            smallest[size] = min(smallest.get(size, VECTOR_BYTES), element.element.bytes)
    single = target.form == "plain" or target.abi == "memref"

    @cache
    def anchor(shape: tuple[int, ...], columns: bool) -> Layout:
        size = prod(shape)
        vector = 1 if single else VECTOR_BYTES // smallest.get(size, VECTOR_BYTES)
        if columns:
            return by_columns(shape, vector, target.num_warps)
        return blocked(size, vector, target.num_warps).reshaped(shape)

    return anchor


def accesses_by_columns(func: Func, target: Target) -> set[Op]:
    """The loads and stores whose addresses follow each other along columns. The introductory text knows rows only."""
    tiles = [
        op
        for op in func.walk()
        if isinstance(op, (ops.Load, ops.Store)) and sum(extent > 1 for extent in shape_of(op.pointer.type)) > 1
    ]
    if not tiles or target.form == "plain":
        return set()
    orders = Orders(func, value_ranges(func, target))
    return {op for op in tiles if orders.by_columns(op)}


def block_operands(op: Op) -> list[Value]:
    """The operands that are blocks."""
    return [v for v in op.operands if isinstance(v.type, BlockType)]


def operand_layout(op: Op, operand: Value, result: Layout) -> Layout:
    """The layout in which an operation that moves nothing needs a block operand, to make its result in `result`."""
    match op:
        case ops.Broadcast():
            return result.sliced(shape_of(operand.type))
        case ops.Reshape():
            return result.reshaped(shape_of(operand.type))
        case ops.Transpose():
            return result.transposed(sorted(range(len(op.order)), key=op.order.__getitem__))
    return result


def cheap_values(func: Func) -> set[Value]:
    """Blocks that are made again rather than converted: ranges, splats, broadcasts, and little made of such."""
    costs: dict[Value, int] = {}
    for op in func.walk():
        if op.effect is not Effect.NONE or op.regions or not op.results or not shape_of(op.results[0].type):
            continue
        if isinstance(op, (ops.Yield, ops.InlineAsm, *_EXCHANGED)):
            continue
        operands = block_operands(op)
        # A broadcast can be made in any layout, of the slice of it.
        known = 0 if isinstance(op, ops.Broadcast) else _CHEAP + 1
        cost = sum(costs.get(v, known) for v in operands) + (_COSTS.get(type(op), 1) if operands else 0)
        if cost <= _CHEAP:
            costs[op.result] = cost
    return set(costs)


def reduced_layout(source: Layout, axis: int) -> Layout:
    """The layout of the result of reducing a whole axis, which is gone then."""
    bits = source.shape[axis] - 1
    kept = source.reduced(axis, bits) if bits else source
    return kept.reshaped(source.shape[:axis] + source.shape[axis + 1 :])


def picked_layout(source: Layout, op: ops.Pick) -> Layout:
    """The layout of what is picked: where the same indices of the source are."""
    gone = shape_of(op.source.type)[op.axis] - op.extent
    return source.reduced(op.axis, gone) if gone else source


@dataclass(frozen=True)
class _Slot:
    """One carried value, or result of an `if`, that is a block: `members` have one layout. That is where one of `ends`
    is made, what blocks yield, since a conversion there would be done in every trip; else where `initial` is."""

    members: tuple[Value, ...]
    ends: tuple[Value, ...]
    initial: tuple[Value, ...] = ()


def _slots(op: Op) -> list[_Slot]:
    match op:
        case ops.For():
            groups = zip(op.results, op.carried, op.initial, yielded(op.body), strict=True)
            found = [_Slot((result, param), (last,), (initial,)) for result, param, initial, last in groups]
        case ops.While():
            params = zip(op.condition.params, op.body.params, strict=True)
            pairs = zip(op.results, params, op.initial, yielded(op.body), strict=True)
            found = [_Slot((result, *both), (last,), (initial,)) for result, both, initial, last in pairs]
        case ops.If():
            ends = zip(op.results, yielded(op.then), yielded(op.orelse), strict=True)
            found = [_Slot((result,), (ours, others)) for result, ours, others in ends]
        case _:
            found = []
    return [slot for slot in found if shape_of(slot.members[0].type)]


class Choice:
    """The layouts of a function's block values: `homes[v]` is where v is made; cheap values have no home."""

    def __init__(self, func: Func, target: Target) -> None:
        self._anchors = anchors(func, target)
        self._by_columns = accesses_by_columns(func, target)
        self._target, self._by_rows = target, mma.rows_first(func)
        self.cheap = cheap_values(func)
        self._ops = list(func.walk())
        self._products = {op.result for op in self._ops if isinstance(op, ops.Dot)}
        self._slots: dict[Op, list[_Slot]] = {op: _slots(op) for op in self._ops if op.regions}
        # The end of a block is where more may be known about what it yields.
        self._slots |= {b.ops[-1]: slots for op, slots in list(self._slots.items()) for b in op.regions}
        self._wishes = self._wished()
        self.homes: dict[Value, Layout] = {}
        self._settle()

    def anchor(self, shape: tuple[int, ...]) -> Layout:
        """The layout of blocks of a shape at most loads and stores, which go along rows."""
        return self._anchors(shape, False)

    def access(self, op: ops.Load | ops.Store) -> Layout:
        """The layout in which a load or store reaches what is next to each other in memory."""
        return self._anchors(shape_of(op.pointer.type), op in self._by_columns)

    def of(self, values: Iterable[Value], shape: tuple[int, ...]) -> Layout:
        """The layout for an operation on `values`, as far as they are blocks of `shape`: the one of theirs that shares
        out most of the work; if all are cheap, that of loads and stores."""
        return self._best(values, shape) or self.anchor(shape)

    def instruction(self, op: ops.Dot) -> mma.Instruction | None:
        """The instruction of tensor cores for a product, if they do it."""
        found = mma.chosen(op, self._target, SHARED_BYTES)
        if found is None:
            return None
        lhs, rhs = (self.of([v], shape_of(v.type)) for v in (op.lhs, op.rhs))
        return warpgroup.chosen(op, self._target, runs_along(lhs, True) and runs_along(rhs, False)) or found

    def _best(self, values: Iterable[Value], shape: tuple[int, ...]) -> Layout | None:
        found = list(dict.fromkeys(self.homes[v] for v in values if v in self.homes and shape_of(v.type) == shape))
        if len(found) < 2:
            return found[0] if found else None
        anchor = self.anchor(shape)
        return min(found, key=lambda layout: (layout.copies, layout != anchor))

    def _wished(self) -> dict[Value, Layout]:
        """What broadcasts would like to find, handed up to what is loaded."""
        wishes: dict[Value, Layout] = {}
        for op in reversed(self._ops):
            for slot in self._slots.get(op, ()):
                wish = next((wishes[v] for v in slot.members if v in wishes), None)
                if wish is not None:
                    for source in (*slot.ends, *slot.initial):
                        wishes.setdefault(source, wish)
            if op.regions or not op.results or isinstance(op, (ops.Atomic, *_EXCHANGED)):
                continue
            if isinstance(op, ops.InlineAsm):
                wish = next((wishes[v] for v in op.results if v in wishes), None)
                if wish is not None:
                    for value in op.args:
                        wishes.setdefault(value, wish)
                continue
            if isinstance(op, ops.Broadcast):
                wishes.setdefault(op.result, self.anchor(op.shape))
            if isinstance(op, ops.Load) and op in self._by_columns:
                wishes[op.result] = self.access(op)
            if op.result in wishes:
                for value in block_operands(op):
                    wishes.setdefault(value, operand_layout(op, value, wishes[op.result]))
        return wishes

    def _settle(self) -> None:
        """Follow the operations, again as long as a slot's layout is found out: what is in a loop depends on it.
        What nothing in a loop decides has the layout that comes in, or is wished for."""
        slots = list(dict.fromkeys(slot for found in self._slots.values() for slot in found))
        while True:
            undecided = [slot for slot in slots if slot.members[0] not in self.homes]
            for op in self._ops:
                self._follow(op)
            still = [slot for slot in undecided if slot.members[0] not in self.homes]
            if not undecided:
                return
            if len(still) == len(undecided):
                # Addresses first: the layout of what is loaded there may say by which instruction it is multiplied.
                for slot in [slot for slot in still if self._is_about_addresses(slot)] or still:
                    known = (self.homes[v] for v in slot.initial if v in self.homes)
                    wishes = (self._wishes[v] for v in (*slot.members, *slot.ends) if v in self._wishes)
                    anchor = self.anchor(shape_of(slot.members[0].type))
                    self._decide(slot, next(known, None) or next(wishes, anchor))

    def _is_about_addresses(self, slot: _Slot) -> bool:
        return not is_float(slot.members[0].type) and not self._products & {*slot.ends}

    def _follow(self, op: Op) -> None:
        for slot in self._slots.get(op, ()):
            known = [self.homes[v] for v in slot.ends if v in self.homes]
            if known and slot.members[0] not in self.homes:
                self._decide(slot, known[0])
        if op.results and not op.regions and shape_of(op.results[0].type) and op.results[0] not in self.cheap:
            home = self._home(op)
            if home is not None:
                self.homes.update((result, home) for result in op.results)

    def _decide(self, slot: _Slot, layout: Layout) -> None:
        self.homes.update((member, layout) for member in slot.members)

    def _unknown(self, values: Iterable[Value]) -> bool:
        return any(v not in self.cheap and v not in self.homes for v in values)

    def _home(self, op: Op) -> Layout | None:
        """Where the result of an operation is made; None while that depends on a slot that is not decided."""
        blocks = block_operands(op)
        unknown = self._unknown(blocks)
        match op:
            case ops.Pick():
                return None if unknown else picked_layout(self.of(blocks, shape_of(op.source.type)), op)
            case ops.Gather():
                ready = op.index in self.cheap or op.index in self.homes
                return self.of([op.index], shape_of(op.index.type)) if ready else None
            case ops.Dot() if warpgroup.depends(op, self._target) and self._unknown((op.lhs, op.rhs)):
                return None
            case ops.Dot() if (instruction := self.instruction(op)) is not None:
                return mma.sums(shape_of(op.result.type), instruction, self._target.num_warps, self._by_rows)
            case ops.Dot() | ops.Histogram() | ops.Atomic():
                return self.anchor(shape_of(op.result.type))
            case ops.Reduce():
                return None if unknown else reduced_layout(self.of([op.source], shape_of(op.source.type)), op.axis)
            case ops.Reshape() | ops.Transpose() if not unknown:
                source = self.of(blocks, shape_of(op.source.type))
                return source.reshaped(op.shape) if isinstance(op, ops.Reshape) else source.transposed(op.order)
        shape = shape_of(op.results[0].type)
        best = self._best(blocks, shape)
        return best if best or unknown else self._wishes.get(op.results[0], self.anchor(shape))
