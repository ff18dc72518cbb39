"""Makes the layouts true: values where they are wanted, conversions where they are not, reductions step by step.

Every operation keeps its place. A cheap value is made once for each layout that someone wants it in, at the place of
the original; another value is made in its home and converted, behind its definition. So what stands before a loop is
converted before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mytriton.ir import ops
from mytriton.ir.builder import Ids, complete
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.printer import Printer
from mytriton.layout import warpgroup
from mytriton.layout.choose import Choice, block_operands, operand_layout
from mytriton.layout.layout import Layout, index_bits, replicated
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.routes import picked, picked_flip, through
from mytriton.stage import Change
from mytriton.target import Target
from mytriton.types import element_of, is_pointer, shape_of

_ACROSS = ("registers", "lanes", "warps")


class Rewriter:
    """Rewrites one function. `layouts` are those of the values of the new one; `reductions` the operations in it that
    end a reduction, where the accesses of different threads are ordered (SEMANTICS "order"); `changes` what was done.
    """

    def __init__(self, func: Func, target: Target) -> None:
        self.layouts: dict[Value, Layout] = {}
        self.reductions: set[Op] = set()
        self.changes: list[Change] = []
        self._func = func
        self._printer = Printer(func)
        self._user: Op | None = None  # the operation that is being given its operands
        self._choice = Choice(func, target)
        self._used = {v for op in func.walk() for v in op.operands}
        self._scalar, self._chip = replicated(target.num_warps), target.chip
        self._ids = Ids(func.next_value, func.next_inline)
        self._definitions = func.definitions
        self._versions: dict[Value, dict[Layout, Value]] = {}
        self._places: dict[Op | Block, list[Op]] = {}  # what stands at the place of an operation, or begins a block
        self._place_of: dict[Value, Op | Block] = {}

    def run(self) -> Func:
        """The new function; the same one if nothing had to change."""
        body = self._block(self._func.body)
        if body is self._func.body:
            return self._func
        func = self._func
        return Func(func.name, body, func.info, func.span, self._ids.value, self._ids.inline)

    # --- blocks and operations ----------------------------------------------------------------------------------------

    def _block(self, block: Block, yields: Sequence[Layout] = ()) -> Block:
        """Recursion follows the nesting of regions, not the length of the kernel."""
        self._places[block] = []
        for param in block.params:
            self._define(param, param, self._home(param), block)
        for op in block.ops:
            self._places[op] = []
            self._place_of.update((v, op) for v in op.results)
            self._op(op, yields)
        for op in block.ops:  # what nothing wanted: dead code, which only a skipped DCE leaves
            for value in op.results:
                if value not in self._versions:
                    self._want(value, self._choice.anchor(shape_of(value.type)))
        made = (*self._places[block], *(new for op in block.ops for new in self._places[op]))
        unchanged = len(made) == len(block.ops) and all(a is b for a, b in zip(made, block.ops, strict=True))
        return block if unchanged else Block(block.params, made)

    def _op(self, op: Op, yields: Sequence[Layout]) -> None:
        self._user = op
        match op:
            case ops.Barrier():
                self._places[op].append(op)
            case ops.Yield():
                self._places[op].append(_with(op, "values", self._all(op.values, yields)))
            case ops.For() | ops.While() | ops.If():
                self._structured(op)
            case ops.Print():
                self._print(op)
            case ops.Reduce():
                self._reduce(op)
            case ops.Dot():
                self._dot(op)
            case ops.Pick():
                self._pick(op)
            case ops.Gather() | ops.Histogram():
                self._look_up(op)
            case ops.Atomic():
                self._atomic(op)
            case ops.InlineAsm():
                self._place(op, op, self._home(op.results[0]))
            case _ if not op.results:
                self._place(op, op, self._effect_layout(op))
            case _ if op.result not in self._choice.cheap:
                self._place(op, op, self._home(op.result))

    def _place(self, at: Op, op: Op, layout: Layout) -> None:
        """Put an operation that works in `layout` in its place, or that of the operation it is made from."""
        needs = {v: self._want(v, operand_layout(op, v, layout)) for v in op.operands}
        self._places[at].append(op.with_operands({old: new for old, new in needs.items() if old is not new}))
        for value in op.results:
            self._define(value, value, layout, at)

    def _effect_layout(self, op: Op) -> Layout:
        """Where a store or an assertion takes place. A store goes where its value is, unless its accesses would be
        scattered and it is worth a conversion: then where loads and stores of its size are."""
        shape = shape_of(op.operands[0].type)
        if not shape:
            return self._scalar
        if not isinstance(op, ops.Store):
            return self._choice.of(op.operands, shape)
        values = op.operands if op.value in self._choice.cheap else [op.value]
        layout, access = self._choice.of(values, shape), self._choice.access(op)
        near = layout.run(access.step) >= access.run(access.step)
        return layout if layout.copies > 1 or near else access

    def _print(self, op: ops.Print) -> None:
        """One value at a time: each has its own layout."""
        for value in op.values:
            layout = self._choice.of([value], shape_of(value.type)) if shape_of(value.type) else self._scalar
            self._place(op, op if len(op.values) == 1 else op.evolve(values=(value,)), layout)

    def _structured(self, op: ops.For | ops.While | ops.If) -> None:
        homes = [self._home(v) for v in op.results]
        new: Op = op if isinstance(op, ops.If) else _with(op, "initial", self._all(op.initial, homes))
        yields = [[self._scalar], homes] if isinstance(op, ops.While) else [homes] * len(op.regions)
        blocks = tuple(self._block(b, wanted) for b, wanted in zip(op.regions, yields, strict=True))
        self._places[op].append(new.with_regions(blocks))
        for value, home in zip(op.results, homes, strict=True):
            self._define(value, value, home, op)

    def _reduce(self, op: ops.Reduce) -> None:
        """What is in registers first, then lanes, then warps; at last the axis goes away."""
        layout = self._choice.of([op.source], shape_of(op.source.type))
        value = self._want(op.source, layout)
        held_by = []
        for place, across in enumerate(_ACROSS):
            unit, extent = index_bits(layout.shape, op.axis, 1), layout.shape[op.axis]
            held = sum(entry for entry in layout.map[place] if entry & unit * (extent - 1))
            if held:
                layout = layout.reduced(op.axis, held // unit)
                step = PartialReduce(
                    source=value, axis=op.axis, combine=op.combine, across=across, bits=held // unit, span=op.span
                )
                value = self._append(op, step, layout)
                held_by.append(f"{1 << step.bits.bit_count()} {across}")
        last = ops.Reshape(source=value, shape=shape_of(op.result.type), results=op.results, span=op.span)
        self._places[op].append(last)
        self.reductions.add(last)
        steps = "; ".join(self._printer.op(made) for made in self._places[op])
        why = f"the elements along the axis are held by {' x '.join(held_by) or 'one register'}"
        self.changes.append(Change("layout", "reduce", self._printer.op(op), steps, op.span, why))
        self._define(op.result, op.result, self._home(op.result), op)

    def _dot(self, op: ops.Dot) -> None:
        """The factors go through shared memory from wherever they are; what is added is where the result is, and tensor
        cores say where that is if they do it."""
        home = self._home(op.result)
        lhs, rhs = (self._want(v, self._choice.of([v], shape_of(v.type))) for v in (op.lhs, op.rhs))
        acc = self._want(op.acc, home)
        same = lhs is op.lhs and rhs is op.rhs and acc is op.acc
        new = op if same else op.evolve(lhs=lhs, rhs=rhs, acc=acc)  # (one value may be several of these)
        if (instruction := self._choice.instruction(op)) is not None:
            held = warpgroup.holds(op, instruction, self.layouts[lhs], home) and lhs is not rhs
            new = new.evolve(instruction=instruction.name, held=held)
            why = f"{self._chip} has tensor cores for {element_of(op.lhs.type)}"
            why += ", which take the first factor from registers" if held else ""
            self.changes.append(Change("layout", "mma", self._printer.op(op), self._printer.op(new), op.span, why))
        self._places[op].append(new)
        self._define(op.result, op.result, home, op)

    def _pick(self, op: ops.Pick) -> None:
        """From wherever the source is to where it leaves the result."""
        have, home = self._choice.of([op.source], shape_of(op.source.type)), self._home(op.result)
        way = through(have, picked(op, home), picked_flip(op))
        self._places[op].append(op.evolve(source=self._want(op.source, have), through=way))
        self._define(op.result, op.result, home, op)

    def _look_up(self, op: ops.Gather | ops.Histogram) -> None:
        """Through shared memory, from where the source and its mask are to where the index and the result are."""
        home, have = self._home(op.result), self._choice.of([op.source], shape_of(op.source.type))
        places = {"source": (op.source, have)}
        if isinstance(op, ops.Gather):
            places["index"] = op.index, home
        elif op.mask is not None:
            places["mask"] = op.mask, have
        self._places[op].append(op.evolve(**{name: self._want(*place) for name, place in places.items()}))
        self._define(op.result, op.result, home, op)

    def _atomic(self, op: ops.Atomic) -> None:
        """Where loads and stores are; of copies one does it, and hands on what it has found, if that is used."""
        home = self._home(op.result)
        new = op.with_operands({v: self._want(v, home) for v in op.operands})
        if home.copies == 1 or op.result not in self._used:
            self._places[op].append(new)
        else:
            found = self._append(op, new.evolve(results=()), home, op.result.hint)
            handed = Convert(source=found, through="shared", owned=True, results=op.results, span=op.span)
            self._places[op].append(handed)
        self._define(op.result, op.result, home, op)

    # --- values -------------------------------------------------------------------------------------------------------

    def _home(self, value: Value) -> Layout:
        return self._choice.homes[value] if shape_of(value.type) else self._scalar

    def _define(self, value: Value, version: Value, layout: Layout, place: Op | Block) -> None:
        self._versions.setdefault(value, {})[layout] = version
        self.layouts[version] = layout
        self._place_of[value] = place

    def _append(self, place: Op | Block, op: Op, layout: Layout, hint: str = "") -> Value:
        """A new operation with one result at the place of another."""
        done = complete(op, self._ids, hint)
        self._printer.define(done)
        self._places[place].append(done)
        self.layouts[done.result] = layout
        return done.result

    def _all(self, values: Iterable[Value], layouts: Sequence[Layout]) -> tuple[Value, ...]:
        return tuple(self._want(v, layout) for v, layout in zip(values, layouts, strict=True))

    def _want(self, value: Value, layout: Layout) -> Value:
        """`value` in `layout`, made or converted if need be. A scalar is everywhere."""
        if not shape_of(value.type):
            return value
        stack = [(value, layout)]
        while stack:
            wanted, where = stack[-1]
            if where not in self._versions.get(wanted, ()):
                missing = self._make(wanted, where)
                if missing:
                    stack += missing
                    continue
            stack.pop()
        return self._versions[value][layout]

    def _make(self, value: Value, layout: Layout) -> list[tuple[Value, Layout]]:
        """Make a version of a value, unless something it needs is missing: then that is returned."""
        op = self._definitions.get(value)
        # Addresses are made again too, of offsets that are converted: they have the bits and the types of numbers.
        again = value in self._choice.cheap or (is_pointer(value.type) and op is not None and not op.regions)
        if op is None or not again:
            self._convert(value, layout)
            return []
        needs = [(v, operand_layout(op, v, layout)) for v in block_operands(op)]
        missing = [(v, where) for v, where in needs if where not in self._versions.get(v, ())]
        if missing:
            return missing
        if isinstance(op, ops.Reshape) and not needs:
            op = ops.Splat(source=op.source, shape=op.shape, results=op.results, span=op.span)
        new = op.with_operands({v: made for v, where in needs if (made := self._versions[v][where]) is not v})
        place = self._place_of[value]
        if value in self._versions:
            self._versions[value][layout] = self._append(place, new, layout, value.hint)
            self._log("again", value, f"cheaper to make again than to convert to {layout}")
        else:
            self._places[place].append(new)
            self._define(value, value, layout, place)
        return []

    def _convert(self, value: Value, layout: Layout) -> None:
        """Convert from the version from which that is cheapest."""
        ways = {through(have, layout): version for have, version in reversed(self._versions[value].items())}
        way = min(ways, key=("registers", "shuffle", "shared").index)
        place = self._place_of[value]
        span = place.span if isinstance(place, Op) else None
        convert = Convert(source=ways[way], through=way, span=span)
        self._versions[value][layout] = self._append(place, convert, layout, value.hint)
        self._log("convert", value, f"wanted in {layout}")

    def _log(self, rule: str, value: Value, why: str) -> None:
        """Note the last operation that was appended: another version of a value."""
        made, user = self._places[self._place_of[value]][-1], self._user
        old = self._definitions.get(value)
        before = value.id if old is None or old.regions else self._printer.op(old)
        span = user.span if user is not None else None
        by = f", by `{self._printer.op(user)}`" if user is not None else ""
        self.changes.append(Change("layout", rule, before, self._printer.op(made), span, why + by))


def _with(op: Op, field: str, values: tuple[Value, ...]) -> Op:
    """An operation with other values in a variadic field; one value may stand there twice, in two layouts."""
    same = all(a is b for a, b in zip(values, getattr(op, field), strict=True))
    return op if same else op.evolve(**{field: values})
