"""Software pipelining: the blocks that a loop multiplies are copied to shared memory some trips before they are needed.

A load that only feeds a product becomes an asynchronous copy into a ring of buffers, `num_stages` of them. Before the
loop the copies of the first trips begin; each trip waits for its own, meets the other threads (which have all read what
the trip before has used), begins those of a later trip in the buffer that has become free, and multiplies what is in
its own. So one barrier a trip is enough, and the copies of `num_stages` - 1 trips are under way.

What makes the addresses runs that many trips ahead. It may therefore not depend on what the loop loads, and the loop
may not write, as then a copy might come too early. Copies for trips that are not made do not begin at all: after the
loop none is under way, and the memory may serve others.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from functools import cached_property
from math import prod

from mytriton.analysis.effects import effect_of
from mytriton.analysis.ranges import Range, value_ranges
from mytriton.backends.nvidia.occupancy import shared_limit
from mytriton.ir import ops
from mytriton.ir.builder import Ids
from mytriton.ir.core import Block, Effect, Func, Op, Value, walk
from mytriton.ir.printer import Printer
from mytriton.layout.ahead import Ahead, Maker
from mytriton.layout.buffer import rounds
from mytriton.layout.copies import Copies, Staging
from mytriton.layout.layout import Layout, replicated
from mytriton.layout.orders import Orders
from mytriton.layout.rolling import Rolling
from mytriton.layout.staging import Ring
from mytriton.layout.warpgroup import ALIGNED_BYTES, by_warpgroups
from mytriton.stage import Change
from mytriton.target import Target
from mytriton.types import BlockType, ScalarType, element_of, shape_of

#: From this generation of chips on there are asynchronous copies.
FIRST_GENERATION = 80
#: More buffers than this are as good as this many.
MOST_STAGES = 8
#: Buffers begin at multiples of this, at which the banks of shared memory begin anew; for warpgroups, of more.
_ALIGNED = 128


def pipeline(func: Func, layouts: MutableMapping[Value, Layout], target: Target) -> tuple[Func, list[Change]]:
    """The function with its loops pipelined, and what was done; the same one if there was nothing to do. New values get
    their layouts."""
    if not any(isinstance(op, ops.Dot) for op in func.walk()):
        return func, []
    step = _Pipeline(func, layouts, target)
    body = step.block(func.body)
    if body is func.body:
        return func, step.changes
    return Func(func.name, body, func.info, func.span, step.ids.value, step.ids.inline), step.changes


class _Pipeline:
    def __init__(self, func: Func, layouts: MutableMapping[Value, Layout], target: Target) -> None:
        self._func, self._layouts, self._target = func, layouts, target
        self.changes: list[Change] = []
        self.ids = Ids(func.next_value, func.next_inline)
        self._printer = Printer(func)
        self._maker = Maker(self.ids, layouts, self._printer, replicated(target.num_warps))
        self._definitions = func.definitions
        self._rings = 0

    @cached_property
    def _ranges(self) -> Mapping[Value, Range]:
        return value_ranges(self._func, self._target)

    @cached_property
    def _copies(self) -> Copies:
        users: dict[Value, list[Op]] = {}
        for op in self._func.walk():
            for value in op.operands:
                users.setdefault(value, []).append(op)
        return Copies(self._layouts, Orders(self._func, self._ranges), self._definitions, users)

    def block(self, block: Block) -> Block:
        """Recursion follows the nesting of regions, not the length of the kernel."""
        found: list[Op] = []
        for op in block.ops:
            found += self._loop(op) if isinstance(op, ops.For) else [self._inside(op)]
        unchanged = len(found) == len(block.ops) and all(a is b for a, b in zip(found, block.ops, strict=True))
        return block if unchanged else Block(block.params, tuple(found))

    def _inside(self, op: Op) -> Op:
        return op.with_regions(tuple(self.block(b) for b in op.regions)) if op.regions else op

    def _loop(self, op: ops.For) -> list[Op]:
        """What takes the place of a loop."""
        loads = [o for o in op.body.ops if isinstance(o, ops.Load) and shape_of(o.result.type)]
        products = any(isinstance(o, ops.Dot) for o in op.body.ops)
        if any(isinstance(o, (ops.For, ops.While)) for o in walk(op.body)) or not products or not loads:
            return [self._inside(op)]
        stages = min(op.num_stages or self._target.num_stages, MOST_STAGES)
        if stages < 2 or self._target.form == "plain" or self._target.abi == "memref":
            return [op]
        obstacle, ahead = self._obstacle(op, stages - 1), Ahead(op)
        found: list[Staging] = []
        for load in loads:
            needs = [v for v in (load.pointer, load.mask) if v is not None]
            staging = obstacle or ahead.obstacle(needs) or self._copies.staging(load)
            if isinstance(staging, str):
                self._log("keep", self._printer.op(load), "", load, f"not copied ahead: {staging}")
            else:
                found.append(staging)
        rings = self._allotted(op, found, stages)
        if not rings:
            return [op]
        made = Rolling(self._maker, op, ahead, list(zip(found, rings, strict=True)), self._ranges[op.upper].low)
        done = made.run(self._definitions, self._used_outside(op))
        for staging, ring in zip(found, rings, strict=True):
            copy = made.copies[staging.load]
            why = f"{staging.dot.result.id} multiplies it, {ring.stages - 1} trip{'s' if ring.stages > 2 else ''} later"
            self._log("copy", self._printer.op(staging.load), self._printer.op(copy), staging.load, why)
        return done

    def _obstacle(self, op: ops.For, trips: int) -> str:
        """Why nothing of a loop can be copied ahead; "" if something may."""
        if self._target.generation < FIRST_GENERATION:
            return f"{self._target.chip} has no asynchronous copies"
        if any(not o.structured and effect_of(o) is Effect.WRITE for o in walk(op.body)):
            return "the loop writes to memory"
        step, type_ = self._definitions.get(op.step), op.induction.type
        assert isinstance(type_, ScalarType)
        if not isinstance(step, ops.Constant) or not 0 < int(step.value) * trips <= type_.high:
            return "the step of the loop is no positive constant"
        return ""

    def _used_outside(self, op: ops.For) -> set[int]:
        """The results of a loop that are used."""
        results = {value: number for number, value in enumerate(op.results)}
        return {results[v] for o in self._func.walk() for v in o.operands if v in results}

    def _allotted(self, op: ops.For, found: Sequence[Staging], stages: int) -> list[Ring]:
        """The rings, with fewer buffers if the chip has no room for all; none if there is no room for two."""
        staged = {s.dot: _staged(s.dot, found) for s in found}
        inside = (o.evolve(staged=staged[o]) if isinstance(o, ops.Dot) and o in staged else o for o in walk(op.body))
        unit = ALIGNED_BYTES if any(by_warpgroups(dot) for dot in staged) else _ALIGNED
        start = max((_up(r.bytes, unit) for o in inside if (r := rounds(o, self._layouts)) is not None), default=0)
        sizes = [_up(_bytes(s), unit) for s in found]
        most = shared_limit(self._target.chip)
        fitting = min(stages, (most - start) // sum(sizes)) if sizes else 0
        if sizes and fitting < stages:
            kept = f"{fitting} are kept" if fitting > 1 else "nothing is copied ahead"
            why = f"{stages} stages of {sum(sizes)} bytes do not fit into the {most} of {self._target.chip}: {kept}"
            self._log("fewer", self._printer.op(op), "", op, why)
        if fitting < 2:
            return []
        rings: list[Ring] = []
        for staging, size in zip(found, sizes, strict=True):
            type_ = staging.factor.type
            assert isinstance(type_, BlockType)
            rings.append(Ring(self._rings, fitting, start, size, type_, staging.slot))
            self._rings, start = self._rings + 1, rings[-1].end
        return rings

    def _log(self, rule: str, before: str, after: str, op: Op, why: str) -> None:
        self.changes.append(Change("layout/pipeline", rule, before, after, op.span, why))


def _staged(dot: ops.Dot, found: Sequence[Staging]) -> str:
    """`Dot.staged` of a product."""
    sides = [s.side for s in found if s.dot is dot]
    return "both" if len(sides) == 2 else sides[0]


def _bytes(staging: Staging) -> int:
    element = element_of(staging.factor.type)
    assert isinstance(element, ScalarType)
    return prod(shape_of(staging.factor.type)) * element.bytes


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit
