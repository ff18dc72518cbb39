"""Makes the plan of a function: cuts the operations of each of its blocks into loops (see `plan.py`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.access import Groups, element_groups
from mytriton.backends.cpu.ahead import fetched_ahead
from mytriton.backends.cpu.past import stores_past
from mytriton.backends.cpu.plan import (
    OUTSIDE,
    Loop,
    Move,
    Plan,
    Run,
    blocks_among,
    is_block_op,
    make_run,
    must_cut,
    resolve,
    unshaped,
)
from mytriton.backends.cpu.products import Products
from mytriton.backends.cpu.reduce import step_bytes
from mytriton.backends.cpu.scratch import Lives
from mytriton.backends.cpu.views import identity, view_through
from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.ir.ops import Load, Store
from mytriton.ir.ops.control import yielded
from mytriton.types import BlockType, shape_of


def make_plan(func: Func) -> Plan:
    """Cut a function into loops."""
    return _Planner(func).plan(func)


class _Planner:
    """Loops are numbered in the order in which they are run. Those from `_start` on are of the run that is open."""

    def __init__(self, func: Func) -> None:
        self.definitions = func.definitions
        self.groups: Mapping[Value, Groups] = element_groups(func)
        self.lives = Lives()
        self.loops: list[Loop] = []
        self.steps: dict[Block, list[Op | Run]] = {}
        self.order: dict[Op, int] = {}
        self._made_in = self.lives.made_in
        self._runs: dict[int, Run] = {}  # of each loop
        self._start = 0
        self._known_from: dict[Value, int] = {}  # the first loop that may use a value
        self._steps: list[Op | Run] = []
        self._ours: list[int] = []  # the loops of the current block
        self._copies = 0
        self._in_place: set[Value] = set()
        self._here: set[Value] = set()  # what the current block makes
        self._products = Products(func, self.lives)

    def plan(self, func: Func) -> Plan:
        """The plan of the function."""
        self.block(func.body)
        lives, known = self.lives, (self.loops, self.groups, self.lives)
        wanted = fetched_ahead(self.steps.values(), *known), stores_past(func, self.steps[func.body], *known)
        kept = lives.made_in, lives.last_use, *lives.allocate(self._runs), lives.rows
        return Plan(self.steps, self.loops, *kept, *wanted, self._in_place, self.groups, self.definitions, self.order)

    # --- blocks -------------------------------------------------------------------------------------------------------

    def block(self, block: Block, targets: Sequence[Value] = ()) -> None:
        """Plan a block, which hands what it yields to `targets`. Recursion follows the nesting of regions."""
        outer = self._steps, self._ours, self._here
        self._steps, self._ours = self.steps.setdefault(block, []), []
        self._here = {*block.params, *(v for op in block.ops for v in op.results)}
        self._known_from.update(dict.fromkeys(block.params, len(self.loops)))
        for op in block.ops:
            self.order[op] = len(self.order)
            self._operation(op)
        if targets:
            self._hand_on(yielded(block), targets)
        self._close()
        self._steps, self._ours, self._here = outer

    def _operation(self, op: Op) -> None:
        if op.regions:
            self._structured(op)
        elif is_block_op(op):
            if isinstance(op, (Load, Store)):
                self._access(op)
            elif not self._is_made_anew(op):
                self._place(op)
        elif not isinstance(op, (ops.Yield, ops.Barrier)):
            # What a block yields is the structured operation's; and memory is in order without barriers.
            self._step(op)

    def _is_made_anew(self, op: Op) -> bool:
        """Whether a value is computed wherever it is needed: it depends on no memory, or only moves elements."""
        anew = view_through(op) is not None or all(self._root(v) not in self._made_in for v in op.operands)
        if anew:
            self._known_from[op.result] = max((self._known_from.get(v, 0) for v in op.operands), default=0)
        return anew

    def _root(self, value: Value) -> Value:
        return resolve(self.definitions, value)[0]

    # --- loops --------------------------------------------------------------------------------------------------------

    def _place(self, op: Op) -> None:
        """Compute a value in the first loop that can; a later one may need to load."""
        size = size_of(op.result)
        earliest = self._earliest(op.operands, size)
        ours = self._ours[bisect_left(self._ours, earliest) :]
        number = next((n for n in ours if self.loops[n].size == size), None)
        self._join(op, self._new_loop(size) if number is None else number)

    def _access(self, op: Load | Store) -> None:
        size, in_place = size_of(op.pointer), op in self._products.read_in_place
        alone = in_place or (isinstance(op, Load) and op.volatile)
        earliest = self._earliest(op.operands, size)
        if alone:
            self._close()
        last = len(self.loops) - 1
        fits = self._start <= last and self.loops[last].size == size and earliest <= last
        self._join(op, last if fits and not must_cut(self.loops[last], op) else self._new_loop(size))
        for guard in self.groups[op.pointer].guards:
            self._read(guard, self._start - 0.5)
        if alone:
            self._close()
        if in_place and self.groups[op.pointer].contiguous >= shape_of(op.pointer.type)[-1]:
            self._ours.pop()  # the loop is run only if elements cannot be read in place: nothing else may be in it
            self._in_place.update(op.results)

    def _alone(self, op: Op, size: int) -> None:
        """A run of one loop that does one operation."""
        self._earliest(op.operands, size)
        self._close()
        self._join(op, self._new_loop(size))
        self._close()

    def _earliest(self, operands: Sequence[Value], size: int) -> int:
        """The first loop, of blocks of `size` elements, that may use all of the operands.

        A later loop of a run may use what an earlier one makes chunk by chunk, but not elements of other chunks."""
        earliest = 0
        for value in operands:
            root, view = resolve(self.definitions, value)
            made = self._made_in.get(root, OUTSIDE)
            earliest = max(earliest, self._known_from.get(root, 0))
            if made != OUTSIDE and (size_of(root) != size or view != identity(root)):
                if made >= self._start:
                    self._close()
                earliest = max(earliest, self._runs[made].last + 1)
        return earliest

    def _new_loop(self, size: int) -> int:
        if self._start < len(self.loops) and self.loops[-1].size != size:
            self._close()
        self.loops.append(Loop(size))
        self._ours.append(len(self.loops) - 1)
        return len(self.loops) - 1

    def _join(self, op: Op, number: int) -> None:
        self.loops[number].ops.append(op)
        for value in op.operands:
            self._read(value, number)
        for value in op.results:
            self.lives.make(value, number)
            self._known_from[value] = number

    def _read(self, value: Value, position: float) -> None:
        root, view = resolve(self.definitions, value)
        if root in self._made_in:
            in_place = view == identity(root) and size_of(root) == size_of(value)
            self.lives.read(root, position, in_place and position == int(position))

    def _close(self) -> None:
        """End the run that is open."""
        if self._start < len(self.loops):
            run = make_run(self.loops, self._start, self.groups)
            self._steps.append(run)
            self._runs.update(dict.fromkeys(range(run.first, run.last + 1), run))
            self._start = len(self.loops)

    # --- steps that are no loops --------------------------------------------------------------------------------------

    def _step(self, op: Op) -> None:
        blocks = blocks_among(op.operands)
        if isinstance(op, ops.Assert) and blocks:
            self._alone(op, size_of(op.condition))
            return
        stored = any(isinstance(a, Store) for loop in self.loops[self._start :] for a in loop.accesses)
        if op.effect in (Effect.WRITE, Effect.OUTPUT) or (isinstance(op, Load) and (stored or op.volatile)) or blocks:
            kept = {v: self._kept(v) for v in blocks}
            self._close()
            self.order[op] = len(self.order)
            op = op.with_operands(kept)
            for value in kept.values():
                self.lives.read(value, self._start - 0.5)
            if isinstance(op, (ops.Reduce, ops.Print)):
                size = step_bytes(op) if isinstance(op, ops.Reduce) else 8 * len(op.values)
                self.lives.hold(op, size, self._start - 0.5)
        self._steps.append(op)
        for value in op.results:
            self._known_from[value] = self._start
            if isinstance(value.type, BlockType):
                self.lives.give(value, self._start - 0.5)
        if isinstance(op, ops.Dot):
            self._products.place(op, self._here)

    def _kept(self, value: Value) -> Value:
        """A value that has the elements of a block in scratch memory, in their order."""
        root, view = resolve(self.definitions, value)
        if root is value and root in self._made_in:
            return root
        self._copies += 1
        copy = Value(f"{value.id}.copy_{self._copies}", value.type, value.hint)
        if root in self._made_in and size_of(root) == size_of(value) and view == identity(root):
            self.lives.alias(copy, root)  # in another shape
        else:
            self._move({copy: value})
            self._products.fresh.add(copy)
        return copy

    def _move(self, sources: Mapping[Value, Value]) -> None:
        """Copy blocks to where others, the keys, are kept: those of one size at once, each chunk before the next."""
        for size in dict.fromkeys(size_of(v) for v in sources):
            targets = tuple(t for t in sources if size_of(t) == size)
            values = tuple(sources[t] for t in targets)
            self._earliest(values, size)
            for target in targets:
                if target not in self._made_in:
                    self.lives.give(target, len(self.loops))
            self._alone(Move(values=values, targets=targets), size)

    # --- structured operations ----------------------------------------------------------------------------------------

    def _structured(self, op: Op) -> None:
        self._close()
        match op:
            case ops.If():
                for result in blocks_among(op.results):
                    self.lives.give(result, len(self.loops) - 0.5)
            case ops.For():
                self._carry(op.initial, op.carried, op.results)
            case ops.While():
                self._carry(op.initial, op.body.params, op.results, op.condition.params)
        begin, mark = len(self.loops) - 0.5, self.lives.mark()
        match op:
            case ops.If():
                self.block(op.then, op.results)
                self.block(op.orelse, op.results)
            case ops.For():
                self.block(op.body, op.carried)
            case ops.While():
                self.block(op.condition)
                self.block(op.body, op.body.params)
        end = len(self.loops) - 0.5
        self.lives.prolong(mark, begin, end)
        for result in blocks_among(op.results):
            self.lives.read(result, end)
        self._known_from.update(dict.fromkeys(op.results, len(self.loops)))
        self._steps.append(op)

    def _carry(self, initial: Sequence[Value], carried: Sequence[Value], *others: Sequence[Value]) -> None:
        """Put the first carried values in place, and keep results and other parameters in the same place."""
        blocks = [n for n, v in enumerate(carried) if shape_of(v.type)]
        for n in blocks:
            self.lives.give(carried[n], len(self.loops) - 0.5)
            for values in others:
                self.lives.give(values[n], len(self.loops) - 0.5)
                self.lives.share(values[n], carried[n])
        if blocks:
            self._move({carried[n]: initial[n] for n in blocks})

    def _hand_on(self, values: Sequence[Value], targets: Sequence[Value]) -> None:
        """What a block yields, all at once. A value that is made where nothing needs the target any more is made in
        its place."""
        blocks = [(t, unshaped(self.definitions, v)) for t, v in zip(targets, values, strict=True) if shape_of(t.type)]
        pairs = [(t, v) for t, v in blocks if not self.lives.is_same_place(t, v)]
        yields = {self._root(v) for _, v in pairs}
        rest: dict[Value, Value] = {}
        for target, value in pairs:
            if target not in yields and self._is_last_use(value, target):
                self.lives.share(value, target)
                self.lives.read(value, len(self.loops) - 0.5)
            else:
                rest[target] = value
        # Elements in another order must be read before any target is written.
        moved = {t: v if self._root(v) is v or self._root(v) not in self._made_in else self._kept(v)
                 for t, v in rest.items()}  # fmt: skip
        self._move(moved)

    def _is_last_use(self, value: Value, target: Value) -> bool:
        made = self._made_in.get(value, OUTSIDE)
        if made not in self._ours or self.lives.is_shared(value):
            return False
        first = self._start if made >= self._start else self._runs[made].first
        return self.lives.is_read_before(target, made, first)
