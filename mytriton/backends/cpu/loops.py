"""One loop over a block: chunks of W elements, each a vector, in the order of the operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from mytriton.backends.cpu.ahead import write_fetch
from mytriton.backends.cpu.effects import EffectWriter
from mytriton.backends.cpu.elements import Elements
from mytriton.backends.cpu.elementwise import elementwise, pointee
from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type, to_memory
from mytriton.backends.cpu.library import divide_function, vector_function_name
from mytriton.backends.cpu.past import row_address, write_past
from mytriton.backends.cpu.places import Positions, held_type, slot
from mytriton.backends.cpu.plan import Move, Plan, is_spread_scalar
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.vectors import VectorMemory
from mytriton.backends.cpu.views import View, identity, in_step, log2
from mytriton.backends.cpu.writer import POINTER, Text, type_name, width_of
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.types import PointerType, ScalarType, element_of, f32, i1, i32, shape_of

#: Chunks a row must have for a loop of its own.
_ROW_CHUNKS = 2

#: Chunks that must be divided by one number for its reciprocal to pay.
_MANY = 4


class LoopWriter:
    """Writes the loops `first` to `last` of the plan as one. `addresses` maps blocks of pointers that are contiguous
    throughout to their first address; `guarded` says that the run's guards hold, `whole` that no element is masked off
    and that what is stored may go past the caches."""

    def __init__(
        self,
        text: Text,
        plan: Plan,
        scalars: ScalarWriter,
        emitter: ElementEmitter,
        loops: tuple[int, int],
        addresses: Mapping[Value, str],
        guarded: bool,
        whole: bool = False,
    ) -> None:
        self.text, self.plan, self.scalars, self.emitter = text, plan, scalars, emitter
        self.first, self.last = loops
        self._loops = plan.loops[self.first : self.last + 1]
        self.size = self._loops[0].size
        self.width = width_of(self.size)
        self.addresses, self.guarded, self._whole = addresses, guarded, whole
        self.row = self._row_size()
        self._positions = Positions(text, self.size, self.width, self.row)
        self.elements = Elements(text, plan, scalars, *loops, self._positions)
        self._memory = VectorMemory(text, emitter, self.width)
        self._names: dict[tuple[Value, View], str] = {}

    def write(self, effects: EffectWriter) -> None:
        """Write the loop."""
        members = [op for loop in self._loops for op in loop.ops]
        self.text.at(next((op for op in members if isinstance(op, (ops.Load, ops.Store))), members[0]))
        with self._chunks():
            for load in self.plan.ahead.get(self.first, ()):
                write_fetch(self.text, load, self.width)
            for op in members:
                if isinstance(op, (ops.Load, ops.Store)):
                    self._access(op)
                elif isinstance(op, ops.Assert):
                    effects.assert_chunk(op, self.vectors(op.operands)[0], self.width)
            self._keep(members)
        for op in members:
            if isinstance(op, ops.Store) and self._whole:
                self.text.at(op)
                write_past(self.text, self.plan, op, self.addresses[op.pointer])

    def _row_size(self) -> int:
        """The elements of a row if blocks of several axes are accessed and rows have several chunks; else 0."""
        shapes = [shape_of(op.pointer.type) for loop in self._loops for op in loop.accesses]
        row = shapes[0][-1] if shapes else self.size
        return row if _ROW_CHUNKS * self.width <= row < self.size else 0

    @contextmanager
    def _chunks(self) -> Iterator[None]:
        """The loop over chunks, or over rows and their chunks."""
        end = "} {loop_annotation = #as_written}"
        if not self.row:
            head = f"scf.for %chunk.i = %size.0 to %size.{self.size} step %size.{self.width} : i32"
            with self.text.block(head, end):
                yield
            return
        size = f"%row.{self.row}"
        if self.text.once(size):
            self.text.write(f"{size} = arith.constant {self.row} : i32")
        with (
            self.text.block(f"scf.for %chunk.row = %size.0 to %size.{self.size} step {size} : i32", end),
            self.text.block(f"scf.for %chunk.column = %size.0 to {size} step %size.{self.width} : i32", end),
        ):
            self.text.write("%chunk.i = arith.addi %chunk.row, %chunk.column : i32")
            yield

    def _keep(self, members: Sequence[Op]) -> None:
        """Write what later loops need to scratch memory. A value may take the place of one that others are computed
        from: so this comes after everything else, and all are computed before one is written."""
        kept: list[tuple[Op, Value, Value]] = []
        for op in members:
            if isinstance(op, Move):
                kept += [(op, t, v) for t, v in zip(op.targets, op.values, strict=True)]
            elif op.results and self.plan.last_use.get(op.result, self.last) > self.last:
                kept.append((op, op.result, op.result))
        names = self.vectors([value for _, _, value in kept])
        for (op, target, _), name in zip(kept, names, strict=True):
            self.text.at(op)
            self._save(target, name)

    # --- values -------------------------------------------------------------------------------------------------------

    def vectors(self, values: Sequence[Value]) -> list[str]:
        """The names of the chunks of some blocks."""
        wanted = [self._resolve(v, None) for v in values]
        missing: dict[tuple[Value, View], Op | None] = {}
        pending = wanted[::-1]
        while pending:
            key = pending.pop()
            if key in self._names or key in missing:
                continue
            op = missing[key] = None if self._is_uniform(*key) else self._definition(key[0])
            pending += [self._resolve(v, key[1]) for v in op.operands if shape_of(v.type)] if op is not None else []
        for key in sorted(missing, key=lambda k: self._order(missing[k])):
            self._compute(*key, missing[key])
        return [self._use(*key) for key in wanted]

    def _order(self, op: Op | None) -> int:
        return -1 if op is None else self.plan.order[op]

    def _resolve(self, value: Value, view: View | None) -> tuple[Value, View]:
        value, view = self.plan.resolve(value, view)
        return value, () if is_spread_scalar(self.plan.definitions.get(value)) else view

    def _definition(self, value: Value) -> Op | None:
        """The operation that computes a value in this loop; None if it is kept."""
        made = self.plan.made_in.get(value)
        return self.plan.definitions[value] if made is None or self.first <= made <= self.last else None

    def _is_uniform(self, value: Value, view: View) -> bool:
        """Whether all lanes of every chunk are equal."""
        lanes, constant = log2(self.width), log2(self.plan.constant_group(value))
        if is_spread_scalar(self.plan.definitions.get(value)):
            return True
        return lanes > 0 and all(bit < constant for bit, at in enumerate(view) if at < lanes)

    def _divides_many(self, divisor: Value, view: View) -> bool:
        """Whether some chunks in turn are divided by the same number."""
        value, view = self._resolve(divisor, view)
        turn = self.row or self.size
        return (
            self._is_uniform(value, view)
            and min(view, default=self._positions.bits) >= log2(turn)
            and turn >= _MANY * self.width
        )

    def _compute(self, value: Value, view: View, op: Op | None) -> None:
        if op is None:
            return  # written where it is used first
        result = f"{self.text.name(value)}{self._positions.suffix(view)}"
        self._names[value, view] = result
        if isinstance(op, ops.Arange):
            self.text.at(op)
            self._range(op, view, result)
            return
        names = [self._use(*self._resolve(v, view)) for v in op.operands]
        self.text.at(op)
        if isinstance(op, ops.Div) and element_of(op.result.type) == f32 and self._divides_many(op.rhs, view):
            name, vector = vector_function_name("divide", self.width), self._type(f32)
            self.text.functions[name] = divide_function(self.width)
            self.text.write(f"{result} = func.call @{name}({', '.join(names)}) : ({vector}, {vector}) -> {vector}")
            return
        elementwise(self.text, self.emitter, op, result, names, self.width)

    def _range(self, op: ops.Arange, view: View, result: str) -> None:
        start = self._positions.first(view)
        if op.start:
            self.text.write(f"{result}.start = arith.constant {op.start} : i32")
            self.text.write(f"{result}.at = arith.addi {start}, {result}.start : i32")
            start = f"{result}.at"
        self._positions.vector(start, self._positions.lane_offsets(view), result)

    def _use(self, value: Value, view: View) -> str:
        """The name of a chunk whose parts are there: it is spread or reloaded if this is its first use."""
        if (value, view) not in self._names:
            write = self._spread if self._is_uniform(value, view) else self._reload
            self._names[value, view] = write(value, view)
        return self._names[value, view]

    def _spread(self, value: Value, view: View) -> str:
        """An element in all lanes."""
        op = self.plan.definitions.get(value)
        result = self.text.name(value) + (self._positions.suffix(view) if view else "")
        if is_spread_scalar(op):
            source = self.plan.definitions.get(op.source)
            if isinstance(source, ops.Constant):
                return self.emitter.constant(source.value, source.type, result)
        scalar = self.elements.get(value, view)
        element = element_of(value.type)
        self.text.write(f"{result} = vector.broadcast {scalar} : {type_name(element)} to {self._type(element)}")
        return result

    def _type(self, element: ScalarType | PointerType) -> str:
        return type_name(element, self.width)

    # --- memory -------------------------------------------------------------------------------------------------------

    def _access(self, op: ops.Load | ops.Store) -> None:
        """A load or store: of consecutive elements if possible, else element by element."""
        element = pointee(op.pointer)
        vector = self.plan.is_vector_access(op, self.width, self.guarded)
        mask_value = None if self._whole else op.mask
        wanted = [v for v in op.operands if v not in (op.pointer, op.mask)]
        wanted += [] if vector else [op.pointer]
        wanted += [] if mask_value is None else [mask_value]
        names = dict(zip(wanted, self.vectors(wanted), strict=True))
        if isinstance(op, ops.Store) and self._whole:
            where = self._chunk(row_address(self.text, self.plan, op), element)
        else:
            where = self._address(op.pointer, element) if vector else names[op.pointer]
        self.text.at(op)
        mask = names[mask_value] if mask_value is not None else ""
        if isinstance(op, ops.Load):
            other = names[op.other] if op.other is not None else ""
            self._names[op.result, identity(op.result)] = result = self.text.name(op.result)
            self._memory.load(op, result, where, mask, other, vector)
        else:
            stem = f"{self.text.name(op.value)}.store_{self.plan.order[op]}"
            self._memory.store(where, names[op.value], mask, element, vector, stem)

    def _address(self, pointer: Value, element: ScalarType) -> str:
        """The address of the current chunk of a contiguous block of pointers."""
        address = self.addresses.get(pointer)
        if address is None:
            return self.elements.get(pointer)
        return self._chunk(address, element, self.text.name(pointer))

    def _chunk(self, address: str, element: ScalarType, stem: str = "") -> str:
        """The address of the current chunk of what begins at an address, named by `stem`, or by that."""
        where = f"{stem or address}.chunk"
        if self.text.once(where):
            types = f"({POINTER}, i32) -> {POINTER}, {memory_type(element).signless}"
            self.text.write(f"{where} = llvm.getelementptr {address}[%chunk.i] : {types}")
        return where

    def _save(self, value: Value, name: str) -> None:
        element = element_of(value.type)
        where = self._slot(value, self._index(value), "")
        if not isinstance(element, PointerType):
            name = to_memory(self.emitter, name, element, f"{self.text.name(value)}.saved")
        held = self._type(held_type(value))
        self.text.write(f"llvm.store {name}, {where} {{alignment = 1 : i64}} : {held}, {POINTER}")

    def _index(self, value: Value) -> str:
        """Where the chunk is kept, in elements from the first."""
        rows = self.plan.rows.get(value)
        return "%chunk.i" if rows is None else self._positions.among(rows, shape_of(value.type)[-1])

    def _slot(self, value: Value, index: str, suffix: str) -> str:
        base, name = slot(self.text, self.plan, value), f"{self.text.name(value)}{suffix}.slot"
        if self.text.once(name):
            types = f"({POINTER}, i32) -> {POINTER}, {type_name(held_type(value))}"
            self.text.write(f"{name} = llvm.getelementptr {base}[{index}] : {types}")
        return name

    def _reload(self, value: Value, view: View) -> str:
        """A chunk of what is kept, through a view."""
        suffix, element = self._positions.suffix(view), element_of(value.type)
        result, held, lanes = f"{self.text.name(value)}{suffix}", held_type(value), log2(self.width)
        as_is = isinstance(element, PointerType) or is_held_as_is(element)
        name = result if as_is else f"{result}.reloaded"
        if in_step(view, 0, lanes) == lanes:
            at = self._index(value) if value in self.plan.rows else self._positions.first(view)
            where = self._slot(value, at, suffix)
            self.text.write(f"{name} = llvm.load {where} {{alignment = 1 : i64}} : {POINTER} -> {self._type(held)}")
        else:
            self._gather(value, view, result, name)
        if not isinstance(element, PointerType):
            from_memory(self.emitter, name, element, result)
        return result

    def _gather(self, value: Value, view: View, stem: str, result: str) -> None:
        base, held, pointers = slot(self.text, self.plan, value), held_type(value), self._type(PointerType(i1))
        index, all_ = self._positions.lanes(view), self.emitter.constant(True, i1, f"{stem}.all")
        types = f"({POINTER}, {self._type(i32)}) -> {pointers}, {type_name(held)}"
        self.text.write(f"{stem}.slots = llvm.getelementptr {base}[{index}] : {types}")
        size = 8 if isinstance(held, PointerType) else held.bytes
        align, types = f"{{alignment = {size} : i32}}", f"({pointers}, {self._type(i1)}) -> {self._type(held)}"
        self.text.write(f"{result} = llvm.intr.masked.gather {stem}.slots, {all_} {align} : {types}")
