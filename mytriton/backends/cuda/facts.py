"""What is settled before a line is printed: which operations print, and which values live in per-thread arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mytriton.analysis.ranges import value_ranges
from mytriton.backends.cuda.loops import Loop, Part, Structure, access_widths, cut, is_scalar
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.layout.dots import is_staged
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.orders import Orders
from mytriton.layout.program import Exchange, LaidOut
from mytriton.layout.staging import AsyncCopy
from mytriton.target import Target

#: Operations that only say how a thread's registers are looked at; they print inside their user.
VIEWS = (ops.Reshape, ops.Transpose, ops.Broadcast)
#: Of these the ones that keep register numbers.
_ALIASES = (ops.Reshape, ops.Transpose)


class Facts:
    """A laid-out program as the emitter sees it.

    `parts` is what is printed, in order; `arrays` the length of the values that live in per-thread arrays: what another
    loop than their own mentions, and what a wide access moves. `widths` are those of the wide accesses.
    """

    def __init__(self, laid_out: LaidOut, target: Target) -> None:
        self.laid_out = laid_out
        self.target = target
        self.func = laid_out.func
        self.definitions = self.func.definitions
        self.ranges = value_ranges(self.func, target)
        self._orders = Orders(self.func, self.ranges)
        self.widths = access_widths(laid_out, self._orders) if target.form == "tuned" else {}
        self._folded = _folded(self.func, self.definitions)
        self._kept = self._moved()
        self.parts = cut(laid_out.items, self.is_printed, self.widths, laid_out.layouts)
        self._home: dict[Value, tuple[Loop | None, int]] = {}
        self._find_homes(self.parts)
        self.arrays: dict[Value, int] = {}
        self._find_arrays(self.parts)

    def is_printed(self, op: Op) -> bool:
        """Whether an operation has a statement of its own; the others print inside their users."""
        if op in self._folded or isinstance(op, ops.Yield):
            return False
        return op in self._kept or not (op.inline or isinstance(op, VIEWS))

    def folded(self, pointer: Value) -> ops.AddPtr | None:
        """The sum that makes a pointer, if it prints as an index at each access."""
        op = self.definitions.get(pointer)
        return op if isinstance(op, ops.AddPtr) and op in self._folded else None

    def named(self, value: Value) -> Value:
        """The value whose variable holds the elements of `value`, register by register."""
        op = self.definitions.get(value)
        while isinstance(op, _ALIASES):
            value = op.source
            op = self.definitions.get(value)
        return value

    def leaves(self, values: Iterable[Value]) -> Iterator[tuple[Value, bool]]:
        """The named values that the text of some operands mentions, and whether registers of other numbers are read."""
        stack = [(value, False) for value in values]
        while stack:
            value, elsewhere = stack.pop()
            inner = self.definitions.get(value)
            if inner is not None and not self.is_printed(inner):
                elsewhere |= isinstance(inner, ops.Broadcast)
                stack += [(v, elsewhere) for v in inner.operands]
            else:
                yield value, elsewhere

    def registers(self, value: Value) -> int:
        """Elements of a value that each thread holds."""
        return self.laid_out.layouts[value].registers

    def is_uniform(self, mask: Value, width: int) -> bool:
        """Whether one mask element speaks for all elements of an access."""
        known = self._orders.along(self.laid_out.layouts[mask]).get(mask)
        return (known is not None and known.constant >= width) or is_scalar(mask, self.definitions)

    # --- arrays -------------------------------------------------------------------------------------------------------

    def _moved(self) -> set[Op]:
        """What must be in an array though it prints inside its users: what a wide access or an exchange moves."""
        moved: list[Value] = []
        for op, width in self.widths.items():
            assert isinstance(op, (ops.Load, ops.Store, AsyncCopy))
            moved += [op.value] if isinstance(op, ops.Store) else []
            moved += [op.mask] if op.mask is not None and not self.is_uniform(op.mask, width) else []
        for item in self.laid_out.walk():
            match item:  # (what is counted is read in a loop over its own registers)
                case Exchange(op=ops.InlineAsm() as assembly):
                    several = [v for v in assembly.args if self.registers(v) > 1]
                    moved += [v for v in several if not is_scalar(v, self.definitions)]
                case Exchange(op=ops.Dot() as product) if product.instruction:  # by as much as is side by side
                    sides = {"lhs": product.lhs, "rhs": product.rhs}
                    several = [v for which, v in sides.items() if not is_staged(product, which)]
                    several = [v for v in several if self.registers(v) > 1]
                    moved += [v for v in several if not is_scalar(v, self.definitions)]
                case Exchange(op=Convert() | PartialReduce() | ops.Pick() | ops.Gather() as exchanged):
                    moved += [exchanged.source] if self.registers(exchanged.source) > 1 else []
        makers = [self.definitions[v] for v in map(self.named, moved) if v in self.definitions]
        return {op for op in makers if op.inline or isinstance(op, VIEWS)}

    def _find_homes(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Loop):
                self._home.update((value, (part, part.registers)) for value in part.results)
                continue
            made = [*part.op.results]
            if isinstance(part, Structure):
                made += [p for block in part.op.regions for p in block.params]
                for block in part.blocks:
                    self._find_homes(block)
            self._home.update((value, (None, self.registers(value))) for value in made)

    def _find_arrays(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Loop):
                for op in part.ops:
                    self._mention(op.operands, part)
                    if part.step > 1:
                        self._mention(op.results, None)
                continue
            self._mention((*part.op.operands, *part.op.results), None)
            if isinstance(part, Structure):
                for block, inner in zip(part.op.regions, part.blocks, strict=True):
                    self._mention((*block.params, *yielded(block)), None)
                    self._find_arrays(inner)

    def _mention(self, values: Sequence[Value], loop: Loop | None) -> None:
        for value, _ in self.leaves(values):
            home, registers = self._home.get(value, (None, 1))
            if registers > 1 and (home is None or home is not loop or home.step > 1):
                self.arrays[value] = registers


def _folded(func: Func, defined: Mapping[Value, Op]) -> set[Op]:
    """The pointer sums whose every use is as an address: they print as an index there, and not by themselves."""
    other_uses = {
        value
        for op in func.walk()
        for value in op.operands
        if not (isinstance(op, (ops.Load, ops.Store, ops.Atomic, AsyncCopy)) and value is op.pointer)
    }
    return {op for value, op in defined.items() if isinstance(op, ops.AddPtr) and value not in other_uses}
