"""Loads and stores as statements: of one element, or of several with one wide access."""

from __future__ import annotations

from contextlib import nullcontext

from mytriton.backends.cuda.atomics import call
from mytriton.backends.cuda.literals import c_type, literal
from mytriton.backends.cuda.positions import owner, placed, plus
from mytriton.backends.cuda.prelude import LOAD_HINTS, STORE_HINTS
from mytriton.backends.cuda.section import Section
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.staging import AsyncCopy
from mytriton.types import ScalarType, element_of, i1


class Memory(Section):
    """Prints the accesses of one kernel. Cache hints are those of the instruction; eviction hints are not printed."""

    # --- loads --------------------------------------------------------------------------------------------------------

    def load(self, op: ops.Load) -> str:
        """The expression of a load of one element."""
        element = element_of(op.result.type)
        assert isinstance(element, ScalarType)
        place = self._loaded(op)
        if element == i1:
            place += " != 0"
        if op.mask is None:
            return place if element != i1 else f"({place})"
        other = literal(0, element) if op.other is None else self._values(op.other)
        return f"({self._values(op.mask)} ? {place} : {other})"

    def wide_load(self, op: ops.Load, width: int) -> str:
        """The call that loads `width` elements."""
        values, call = self._values, self._values.prelude.call
        element = element_of(op.result.type)
        assert isinstance(element, ScalarType)
        arguments = [values.chunk(op.result), self._address(op.pointer)]
        if op.mask is None:
            return call("mt_load", *arguments, width=width, hint=_hint(op))
        other = literal(0, element) if op.other is None else values(op.other)
        if self._facts.is_uniform(op.mask, width):
            return call("mt_load_if", values(op.mask), *arguments, other, width=width, hint=_hint(op))
        return call("mt_load_each", values.chunk(op.mask), *arguments, other, width=width, hint=_hint(op))

    def _loaded(self, op: ops.Load) -> str:
        if op.volatile:
            return f"*(volatile {c_type(op.pointer.type)})({self._address(op.pointer)})"
        if hint := _hint(op):
            return f"__ld{hint}({self._address(op.pointer)})"
        return self._place(op.pointer)

    # --- stores -------------------------------------------------------------------------------------------------------

    def store(self, op: ops.Store, width: int) -> None:
        """Write the statement of a store of `width` elements."""
        conditions = []
        if op.mask is not None and (width == 1 or self._facts.is_uniform(op.mask, width)):
            conditions.append(self._values(op.mask))
        # Threads may hold copies of an element; one of them writes it.
        conditions += owner(self._facts.laid_out.layouts[op.pointer], self._facts.target.threads)
        statement = self._wide_store(op, width) if width > 1 else self._stored(op)
        if not conditions:
            self._writer.line(f"{statement};")
            return
        with self._writer.block(f"if ({' && '.join(conditions)})"):
            self._writer.line(f"{statement};")

    def _stored(self, op: ops.Store) -> str:
        if hint := _hint(op):
            return f"__st{hint}({self._address(op.pointer)}, {self._values(op.value)})"
        return f"{self._place(op.pointer)} = {self._values(op.value)}"

    def _wide_store(self, op: ops.Store, width: int) -> str:
        values, call = self._values, self._values.prelude.call
        arguments = [self._address(op.pointer), values.chunk(op.value)]
        if op.mask is None or self._facts.is_uniform(op.mask, width):
            return call("mt_store", *arguments, width=width, hint=_hint(op))
        return call("mt_store_each", values.chunk(op.mask), *arguments, width=width, hint=_hint(op))

    # --- atomic operations --------------------------------------------------------------------------------------------

    def atomic(self, op: ops.Atomic) -> str:
        """The expression of what an atomic operation has found; 0 where it is not done."""
        element = element_of(op.value.type)
        assert isinstance(element, ScalarType)
        values = [v for v in (op.compare, op.value) if v is not None]
        helper = self._values.prelude.call
        text = call(helper, op, element, self._address(op.pointer), [self._values(v) for v in values])
        conditions = owner(self._facts.laid_out.layouts[op.pointer], self._facts.target.threads)
        conditions += [self._values(op.mask)] if op.mask is not None else []
        if not conditions:
            return text
        nothing = literal(0.0 if element.kind == "float" else 0, element)
        return f"{' && '.join(conditions)} ? {text} : {nothing}"

    # --- copies to shared memory --------------------------------------------------------------------------------------

    def copy(self, op: AsyncCopy, shared: str) -> None:
        """Write the statement that begins to copy `width` elements to a ring in the buffer `shared`."""
        element, layout = element_of(op.ring.type), self._facts.laid_out.layouts[op.pointer]
        assert isinstance(element, ScalarType)
        stage, moved = self._values.constant(op.stage), op.width * element.bytes
        first = op.ring.start + (stage * op.ring.bytes if isinstance(stage, int) else 0)
        turn = "" if isinstance(stage, int) else f"{self._values(op.stage)} * {op.ring.bytes}"
        inside = layout.step * (op.width - 1)  # `r` is that of the first element
        masks = (0 if inside >> bit & 1 else mask * element.bytes for bit, mask in enumerate(op.place))
        place = placed(layout, tuple(masks))
        to = plus(shared, turn, place, str(first))
        name, wanted = f"mt_async_copy_{moved}", list[str]()
        if op.mask is not None:
            name, wanted = f"{name}_if", [self._values(op.mask)]
        statement = self._values.prelude.call(name, *wanted, to, self._address(op.pointer))
        conditions = owner(layout, self._facts.target.threads)
        with self._writer.block(f"if ({' && '.join(conditions)})") if conditions else nullcontext():
            self._writer.line(f"{statement};")

    # --- addresses ----------------------------------------------------------------------------------------------------

    def _address(self, pointer: Value) -> str:
        folded = self._facts.folded(pointer)
        if folded is None:
            return self._values(pointer)
        self._writer.mention(pointer)
        return self.sum(folded)

    def _place(self, pointer: Value) -> str:
        """The memory a pointer points to: `x[v3]` for a sum that is only used as an address, else `*v4`."""
        folded = self._facts.folded(pointer)
        if folded is None:
            return f"*{self._values(pointer)}"
        self._writer.mention(pointer)
        return f"{self._values(folded.pointer)}[{self._values(folded.offset)}]"

    def sum(self, op: ops.AddPtr) -> str:
        """A pointer and its offset, added."""
        pointer, offset = self._values(op.pointer), self._values(op.offset)
        return f"{pointer} - {offset[1:]}" if offset.startswith("-") else f"{pointer} + {offset}"


def _hint(op: ops.Load | ops.Store) -> str:
    """The hint that the instruction of an access takes (CUDA programming guide, "Load Functions Using Cache Hints",
    "Store Functions Using Cache Hints"); those that name the default, or the other kind of access, take none."""
    return op.cache if op.cache in (LOAD_HINTS if isinstance(op, ops.Load) else STORE_HINTS) else ""
