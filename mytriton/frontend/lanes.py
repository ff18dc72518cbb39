"""What the values of a function of single elements are for the elements of a block, and its operations on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod

from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Mistake
from mytriton.ir import ops
from mytriton.ir.core import Effect, Op, Value
from mytriton.types import i32, shape_of


class Lanes:
    """Appends operations to the builder, for blocks of `shape`; `blocks` are those that stand for the parameters."""

    def __init__(self, s: Semantics, shape: tuple[int, ...], blocks: Mapping[Value, Value]) -> None:
        self._s, self._builder, self._shape = s, s.builder, shape
        self._now = dict(blocks)
        self._varying = set(blocks)  # values of the function that differ from element to element
        self._active: Value | None = None  # the elements that take the way at hand; None: all

    def block(self, value: Value) -> Value:
        """What a value of the function is for each element."""
        value = self._scalar(value)
        if shape_of(value.type) == self._shape:
            return value
        scalar = self._builder.add(ops.Reshape, source=value, shape=()) if shape_of(value.type) else value
        return self._builder.splat(scalar, self._shape)

    def _scalar(self, value: Value) -> Value:
        """What a value of the function is now, if it is the same for all elements."""
        return self._now.get(value, value)

    def _blocks(self, values: Iterable[Value]) -> list[Value]:
        return [self.block(v) for v in values]

    def _set(self, old: Value, new: Value, varying: bool = True) -> None:
        self._now[old] = new
        (self._varying.add if varying else self._varying.discard)(old)
        if (name := self._s.names.get(old)) is not None:
            self._s.names.setdefault(new, name)

    # --- operations ---------------------------------------------------------------------------------------------------

    def plain(self, op: Op) -> None:
        """An operation that is not structured."""
        if any(prod(shape_of(v.type)) > 1 for v in (*op.results, *op.operands)):
            raise self._mistake(op, "a function of single elements makes a block", "leave blocks to what calls it")
        varies = any(v in self._varying for v in op.operands)
        if isinstance(op, (ops.Splat, ops.Reshape)) and varies:  # of one element, for an atomic operation
            self._set(op.result, self._now[op.source])
            return
        # An atomic operation is done once for each element.
        each = varies or isinstance(op, ops.Atomic) or (op.effect is not Effect.NONE and self._active is not None)
        if each and not isinstance(op, ops.Barrier):
            done = self._builder.append(self._masked(op, op.with_operands({v: self.block(v) for v in op.operands})))
        else:
            done = self._builder.append(op.with_operands({v: self._scalar(v) for v in op.operands}, results=()))
        for old, new in zip(op.results, done.results, strict=True):
            self._set(old, new, each)

    def _masked(self, op: Op, wide: Op) -> Op:
        """An operation on blocks, for the elements that take the way at hand."""
        wide = wide.evolve(results=())
        match wide:
            case ops.Load() | ops.Store() | ops.Atomic():
                return wide.evolve(mask=self._and(self._active, wide.mask))
            case ops.Assert() if self._active is not None:
                others = self._builder.add(ops.Not, source=self._active)
                return wide.evolve(condition=self._builder.add(ops.Or, lhs=wide.condition, rhs=others))
            case ops.Print() if self._active is not None:
                hint = "print before it, or after it what it has left"
                raise self._mistake(op, "a function of single elements prints all or none, not those in a branch", hint)
            case ops.VolatileAsm() if self._active is not None:
                hint = "leave `is_pure` true, if the instructions do nothing besides their results"
                raise self._mistake(op, "assembly is run for all elements or none, not for those in a branch", hint)
            case ops.InlineAsm():
                return wide.evolve(shape=self._shape)
        return wide

    @staticmethod
    def _mistake(op: Op, message: str, hint: str) -> Mistake:
        assert op.span is not None
        return Mistake("MT229", message, op.span, hint)

    # --- masks --------------------------------------------------------------------------------------------------------

    def _and(self, x: Value | None, y: Value | None) -> Value | None:
        return self._builder.add(ops.And, lhs=x, rhs=y) if x is not None and y is not None else x or y

    @contextmanager
    def _only(self, mask: Value | None) -> Iterator[None]:
        """What is done in a `with` is done for the elements of the mask."""
        outer, self._active = self._active, mask
        yield
        self._active = outer

    def _any(self, mask: Value) -> Value:
        """Whether there is an element of the mask."""
        b = self._builder
        flat = b.cast(self._s.reshape(mask, (prod(self._shape),)), i32)
        found = b.add(ops.Reduce, source=flat, axis=0, combine=ops.Or.opcode)
        return b.add(ops.CmpNe, lhs=found, rhs=b.constant(0, i32))

    def _choose(self, mask: Value, if_true: Value, if_false: Value) -> Value:
        if if_true is if_false:
            return if_true
        return self._builder.add(ops.Select, condition=mask, if_true=if_true, if_false=if_false)
