"""Operands in emitted gpu-dialect MLIR: which SSA name is a value at the line being written.

The text is that of one thread. Block values are read for the registers at hand: those of the trip of the loop over
registers, or those that a `View` names. What is not there yet is read from where it lives (`homes.py`), or made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mytriton.backends.mlir.homes import Home, Homes
from mytriton.backends.mlir.names import number, result_name
from mytriton.backends.mlir.text import ZERO, Text
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.layout.layout import Layout
from mytriton.records import dataclass
from mytriton.types import BlockType, PointerType, element_of

if TYPE_CHECKING:
    from mytriton.backends.mlir.memory import MemoryForm

#: Loops up to this many trips are unrolled in full, so that the arrays between them become registers; left to itself
#: LLVM does not when the body has branches, and the arrays then stay in (slow) local memory.
MAX_UNROLL = 64
#: The same where each trip is about one element and not about a chunk.
MAX_UNROLL_SINGLE = 128
_UNROLL = " {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}"


@dataclass(frozen=True, slots=True)
class View:
    """Some registers of a value: `index` is the name of an i32, the number of the first; `low[i]` is what bit i of the
    place in a chunk adds to it."""

    index: str
    low: tuple[int, ...] = ()


class Context:
    """What is known of the place at hand: the trip, its chunk's `width` (None for one element at a time, W for vectors
    of W), and the `view` of the operands (None: the registers of the trip)."""

    form: MemoryForm
    #: Writes an operation at the place at hand, and binds its result.
    write_op: Callable[[Op], None]

    def __init__(
        self,
        text: Text,
        names: dict[Value, str],
        definitions: Mapping[Value, Op],
        layouts: Mapping[Value, Layout],
        homes: Homes,
    ) -> None:
        self.text, self.names, self.definitions = text, names, definitions
        self.layouts, self.homes = layouts, homes
        self.width: int | None = None
        self.trips = 1
        self.view: View | None = None

    # --- places -------------------------------------------------------------------------------------------------------

    @contextmanager
    def each(self, trips: int, width: int | None = None, most: int = MAX_UNROLL) -> Iterator[None]:
        """The body of the `with` is written for each of `trips` chunks of `width`: inside a loop if there are more than
        one, which is unrolled up to `most`."""
        outside = self.width, self.trips, self.view
        self.width, self.trips, self.view = width, trips, None
        if trips > 1:
            with self.loop(trips, "%r", most):
                yield
        else:
            yield
        self.width, self.trips, self.view = outside

    @contextmanager
    def loop(self, trips: int, counter: str, most: int = MAX_UNROLL) -> Iterator[None]:
        """A loop from 0, unrolled if that makes no endless text."""
        zero, end, one = self.text.i32(0), self.text.i32(trips), self.text.i32(1)
        head = f"scf.for {counter} = {zero} to {end} step {one} : i32"
        with self.text.region(head, _UNROLL if trips <= most else "", (counter,)):
            yield

    @contextmanager
    def through(self, view: View | None) -> Iterator[None]:
        """Operands are seen through the view."""
        outside, self.view = self.view, view
        yield
        self.view = outside

    @property
    def chunk(self) -> str:
        """The number of the chunk at hand: the loop's variable, or 0."""
        return "%r" if self.trips > 1 else self.text.i32(0)

    # --- operands -----------------------------------------------------------------------------------------------------

    def ref(self, value: Value) -> str:
        """`value` as an operand. Constants and splats are made where they are first needed: they may be needed in
        several loops, and are not worth keeping from one to another."""
        op = self.definitions.get(value)
        if isinstance(op, ops.Constant):
            return self.text.constant(op.value, op.type)
        if isinstance(op, ops.Splat):
            return self._splat(op)
        if not isinstance(value.type, BlockType):
            return self.form.scalar(value)
        known = self.text.recall((value, self.view, self.width))
        return known or self._bring(value)

    def bind(self, value: Value, name: str) -> None:
        """`name` is the value, here and in the rest of the region."""
        if isinstance(value.type, BlockType):
            self.text.remember((value, self.view, self.width), name)
        else:
            self.names[value] = name

    def prepare(self, op: Op) -> None:
        """Bring the operands, before the lines of the operation itself."""
        for value in op.operands:
            if isinstance(value.type, BlockType) and not isinstance(self.definitions.get(value), ops.Splat):
                self.ref(value)

    def result(self, op: Op) -> str:
        """An unused name for the result of an operation."""
        seen = f"_{self.view.index.lstrip('%')}" if self.view is not None else ""
        return self.text.fresh(result_name(op) + seen)

    def type_of(self, value: Value) -> str:
        """The MLIR type of an operand."""
        return self.form.type_of(value.type, self.width)

    def keep(self, value: Value) -> None:
        """Put the value where it lives, if that is an array."""
        home = self.homes.get(value)
        if home is not None and home.array is not None:
            with self.text.elsewhere(None, (value.id,)):
                self.form.keep(home, element_of(value.type), self.chunk, self.ref(value))

    def _splat(self, op: ops.Splat) -> str:
        source, width, text = self.definitions.get(op.source), self.width, self.text
        if width is None:
            return self.ref(op.source)
        if isinstance(source, ops.Constant):
            return text.constant(source.value, source.type, width)
        if (known := text.recall((op.result, width))) is not None:
            return known
        element = element_of(op.result.type)
        type_ = "!llvm.ptr<1>" if isinstance(element, PointerType) else element.signless
        operand, name = self.ref(op.source), text.fresh(f"%splat{number(op.result)}")
        text.write(f"{name} = vector.broadcast {operand} : {type_} to vector<{width}x{type_}>")
        text.remember((op.result, width), name)
        return name

    def _bring(self, value: Value) -> str:
        """Make a value available that other items made."""
        home, op = self.homes.get(value), self.definitions.get(value)
        if home is None:
            if op is None or op.regions:
                raise InternalError(f"{value.id} is used where no thread has it")
            with self.text.elsewhere(None):
                self.write_op(op)
            name = self.text.recall((value, self.view, self.width))
            assert name is not None, "an operation binds its result"
            return name
        with self.text.elsewhere(None, (value.id,)):
            name = self._read(value, home)
        self.bind(value, name)
        return name

    def _read(self, value: Value, home: Home) -> str:
        """The registers at hand, from where the value lives."""
        element, width, text = element_of(value.type), self.width, self.text
        stem = result_name(op) if (op := self.definitions.get(value)) and len(op.results) == 1 else f"%v{number(value)}"
        if self.view is not None:
            stem += f"_{self.view.index.lstrip('%')}"
        if self.view is None and width == home.width and home.array is not None:
            return self.form.fetch(home, element, self.chunk, text.fresh(stem))
        view = self.view or self._trip()
        if width is None:
            return self._element(value, home, view.index, stem)
        types = f"{self.form.type_of(element, None)} to {self.form.type_of(value.type, width)}"
        if not any(view.low):
            one = self._element(value, home, view.index, f"{stem}_one")
            name = text.fresh(stem)
            text.write(f"{name} = vector.broadcast {one} : {types}")
            return name
        if view.low == tuple(1 << i for i in range(len(view.low))):
            if home.array is not None:
                return self.form.fetch_run(home, element, view.index, width, text.fresh(stem))
            if home.width == width and (whole := text.recall((value, None, width))) is not None:
                return whole
        parts = [self._element(value, home, self._plus(view, i), f"{stem}_{i}") for i in range(width)]
        name = text.fresh(stem)
        text.write(f"{name} = vector.from_elements {', '.join(parts)} : {self.form.type_of(value.type, width)}")
        return name

    def _trip(self) -> View:
        """The registers of the trip."""
        bits = (self.width or 1).bit_length() - 1
        index = self.chunk
        if bits and self.trips > 1:
            shift = self.text.i32(bits)
            index = self.text.once(
                f"%r_x{self.width}", lambda n: self.text.write(f"{n} = arith.shli %r, {shift} : i32")
            )
        return View(index, tuple(1 << i for i in range(bits)))

    def _plus(self, view: View, place: int) -> str:
        """The register at a place in the chunk."""
        offset = sum(mask for i, mask in enumerate(view.low) if place >> i & 1)
        if not offset:
            return view.index
        constant = self.text.i32(offset)
        if view.index == ZERO:
            return constant
        name = f"{view.index}_plus{offset}"
        return self.text.once(name, lambda n: self.text.write(f"{n} = arith.addi {view.index}, {constant} : i32"))

    def _element(self, value: Value, home: Home, index: str, stem: str) -> str:
        """One register, from where the value lives."""
        text, element = self.text, element_of(value.type)
        if home.array is not None:
            return self.form.fetch_run(home, element, index, None, text.fresh(stem))
        whole = text.recall((value, None, home.width))
        assert whole is not None, f"{value.id} is not made yet"
        if home.width is None:
            return whole
        name, type_ = text.fresh(stem), self.form.type_of(value.type, home.width)
        text.write(f"{name} = llvm.extractelement {whole}[{index} : i32] : {type_}")
        return name
