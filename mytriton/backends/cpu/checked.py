"""The checking mode: before each access, an assertion that it is within its array.

Bounds are parameters after the kernel's own, two for each pointer: the lowest address of its array, and the first above
it. An access of which it is not known through which parameter it goes may be in any array of those it may go through.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from mytriton.analysis.written import pointer_groups
from mytriton.ir import ops
from mytriton.ir.builder import Builder, Ids, parameter
from mytriton.ir.core import Block, Func, Op, Value, attribute
from mytriton.ir.printer import Printer
from mytriton.records import dataclass
from mytriton.types import PointerType, element_of, i1, i64, shape_of

_Access: TypeAlias = "ops.Load | ops.Store | ops.Atomic"


@dataclass(frozen=True, eq=False, kw_only=True)
class Inside(ops.Assert):
    """Stops the launch if an access is outside of its array: `text` is the access as it is listed."""

    opcode: ClassVar[str] = "inside"
    text: str = attribute()


def checked(func: Func) -> Func:
    """The function with bounds as parameters, and each access checked."""
    return _Checker(func).function()


class _Checker:
    def __init__(self, func: Func) -> None:
        self.func = func
        self.printer = Printer(func)
        self.groups = pointer_groups(func)
        self.build = Builder(Ids(func.next_value, func.next_inline))
        self.bounds = {
            p: (parameter(f"{p.id}.low", i64), parameter(f"{p.id}.high", i64)) for p in func.pointer_params()
        }

    def function(self) -> Func:
        body = self._block(self.func.body)
        params = (*self.func.params, *(bound for pair in self.bounds.values() for bound in pair))
        ids = self.build.ids
        func = self.func
        return Func(func.name, Block(params, body.ops), func.info, func.span, ids.value, ids.inline)

    def _block(self, block: Block) -> Block:
        """Recursion follows the nesting of regions."""
        found: list[Op] = []
        for op in block.ops:
            if isinstance(op, (ops.Load, ops.Store, ops.Atomic)):
                found += self._check(op)
            found.append(op.with_regions(tuple(self._block(b) for b in op.regions)) if op.regions else op)
        return Block(block.params, tuple(found))

    def _check(self, op: _Access) -> list[Op]:
        build, shape, pointer = self.build, shape_of(op.pointer.type), element_of(op.pointer.type)
        assert isinstance(pointer, PointerType)
        build.ops, build.span = [], op.span
        address = build.add(ops.Bitcast, source=op.pointer, to=i64)
        inside: Value | None = None
        group = self.groups.find(op.pointer)
        arrays = [p for p in self.bounds if self.groups.find(p) is group]
        for param in arrays:
            low, high = self.bounds[param]
            last = build.add(ops.Sub, lhs=high, rhs=build.constant(pointer.element.bytes, i64))
            above = build.add(ops.CmpGe, lhs=address, rhs=build.splat(low, shape))
            below = build.add(ops.CmpLe, lhs=address, rhs=build.splat(last, shape))
            here = build.add(ops.And, lhs=above, rhs=below)
            inside = here if inside is None else build.add(ops.Or, lhs=inside, rhs=here)
        if inside is None:  # a pointer made of a number in a kernel without arrays
            return []
        if op.mask is not None:
            other = build.constant(True, i1, shape)
            inside = build.add(ops.Select, condition=op.mask, if_true=inside, if_false=other)
        names = " or ".join(f"`{p.id}`" for p in arrays)
        build.append(Inside(condition=inside, message=f"{op.opcode} outside of {names}", text=self.printer.op(op)))
        return build.ops
