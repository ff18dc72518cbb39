"""Forwards what is known to be in memory to the loads that would read it: what was stored there, or loaded from there.

A store may write wherever a pointer leads that is not proven to lead elsewhere: different arguments may be the same
array. What a block was stored through is known only if its addresses differ, or its elements do not: of several
elements stored to one address one wins, and which is not said.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from mytriton.analysis.axis import AxisInfo, axis_info
from mytriton.analysis.effects import effect_of, effects_within
from mytriton.analysis.ranges import Range, value_ranges
from mytriton.ir import ops
from mytriton.ir.builder import Ids, complete
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.ir.printer import Printer
from mytriton.records import dataclass
from mytriton.stage import Change
from mytriton.target import Target
from mytriton.types import ScalarType, element_of, shape_of

#: How many pointers' contents are remembered: the latest ones.
MEMORY = 64
#: Offsets up to here, in elements, cannot wrap a 64-bit address.
_FAR = 1 << 58

_Key = tuple[Value, "Value | None"]  # a pointer and a mask


@dataclass(frozen=True, eq=False)
class _Fact:
    """Where the mask is true, memory holds `value`; `other` is what the load that found it has elsewhere."""

    value: Value
    stored: bool
    other: Value | None = None


class _Forwarder:
    def __init__(self, func: Func) -> None:
        self.func = func
        self.printer = Printer(func)
        self.ids = Ids(func.next_value, func.next_inline)
        self.effects = effects_within(func)
        self.facts: dict[_Key, _Fact] = {}
        self.substitution: dict[Value, Value] = {}
        self.changes: list[Change] = []

    def block(self, block: Block) -> Block:
        # Recursion follows the nesting of regions, not the length of the kernel.
        out: list[Op] = []
        for op in block.ops:
            done = op.with_operands(self.substitution)
            if done is not op and done.inline:
                self.printer.define(done)
            if done.structured:
                done = self._structured(op, done)
            elif isinstance(done, ops.Load) and not done.volatile:
                if self._forward(done, out):
                    continue
            elif isinstance(done, ops.Store):
                self._store(done)
            elif effect_of(done) is Effect.WRITE:
                self.facts.clear()
            out.append(done)
        same = len(out) == len(block.ops) and all(a is b for a, b in zip(out, block.ops, strict=True))
        return block if same else Block(block.params, tuple(out))

    def _structured(self, original: Op, op: Op) -> Op:
        before = self.facts
        if self.effects[original].writes and not isinstance(op, ops.If):
            before = {}  # a later trip sees what an earlier one wrote
        blocks, after = [], []
        for inner in op.regions:
            self.facts = dict(before)
            blocks.append(self.block(inner))
            after.append(self.facts)
        # What a block found out is not visible after it; what it may have changed is not known any more.
        self.facts = {k: f for k, f in before.items() if all(facts.get(k) is f for facts in after)}
        return op.with_regions(tuple(blocks))

    # --- memory ---------------------------------------------------------------------------------------------------

    def _remember(self, key: _Key, fact: _Fact) -> None:
        self.facts.pop(key, None)
        self.facts[key] = fact
        if len(self.facts) > MEMORY:
            del self.facts[next(iter(self.facts))]

    def _store(self, op: ops.Store) -> None:
        for key in [k for k in self.facts if not self._apart(k[0], op.pointer)]:
            del self.facts[key]
        self._remember((op.pointer, op.mask), _Fact(op.value, stored=True))

    def _forward(self, op: ops.Load, out: list[Op]) -> bool:
        """Replace a load by what it would read, if that is known."""
        for mask in dict.fromkeys((op.mask, None)):
            fact = self.facts.get((op.pointer, mask))
            if fact is None or (fact.stored and not self._is_settled(op.pointer, fact.value)):
                continue
            same_other = not fact.stored and fact.other is op.other and mask is op.mask
            if op.mask is None or same_other:
                value, after = fact.value, self.printer.value(fact.value)
            else:
                value, after = self._select(op, op.mask, fact.value, out)
            self.substitution[op.result] = value
            rule, verb = ("load_after_store", "stored") if fact.stored else ("load_after_load", "loaded")
            why = f"{self.printer.value(fact.value)} was {verb} there, and nothing since may have changed it"
            self.changes.append(Change("forward", rule, self.printer.op(op), after, op.span, why))
            return True
        self._remember((op.pointer, op.mask), _Fact(op.result, False, op.other))
        return False

    def _select(self, op: ops.Load, mask: Value, value: Value, out: list[Op]) -> tuple[Value, str]:
        """What a masked load gives where `value` is in memory."""

        def build(new: Op) -> Value:
            done = complete(replace(new, span=op.span), self.ids, op.result.hint)
            self.printer.define(done)
            out.append(done)
            return done.result

        other, element = op.other, element_of(op.result.type)
        if other is None:
            assert isinstance(element, ScalarType)
            other = build(ops.Constant(value={"bool": False, "int": 0, "float": 0.0}[element.kind], type=element))
            if shape := shape_of(op.result.type):
                other = build(ops.Splat(source=other, shape=shape))
        chosen = build(ops.Select(condition=mask, if_true=value, if_false=other))
        return chosen, self.printer.op(out[-1])

    # --- what pointers lead to ------------------------------------------------------------------------------------

    def _is_settled(self, pointer: Value, value: Value) -> bool:
        """Whether a block stored through `pointer` is what is there afterwards, element by element."""
        shape = shape_of(pointer.type)
        if not shape or isinstance(self.printer.definition(value), ops.Splat):
            return True
        info = self._axes[pointer]
        return info.group == info.size and info.stride not in (None, 0) and abs(info.stride or 0) * info.size < _FAR

    def _apart(self, x: Value, y: Value) -> bool:
        """Whether no address is in both of two blocks of pointers."""
        if self._bases.get(x, x) is not self._bases.get(y, y):
            return False
        nowhere = Range(0, 0)
        first, second = self._offsets.get(x, nowhere), self._offsets.get(y, nowhere)
        near = all(abs(n) < _FAR for r in (first, second) for n in (r.low, r.high))
        return near and (first.high < second.low or second.high < first.low)

    @cached_property
    def _bases(self) -> dict[Value, Value]:
        """The pointers that others are made of by moving; any other is its own base."""
        bases: dict[Value, Value] = {}
        for op in self.func.walk():
            match op:
                case ops.AddPtr(pointer=source):
                    bases[op.result] = bases.get(source, source)
                case ops.Splat(source=source) | ops.Reshape(source=source):
                    bases[op.result] = bases.get(source, source)
                case ops.Transpose(source=source) | ops.Broadcast(source=source):
                    bases[op.result] = bases.get(source, source)
        return bases

    @cached_property
    def _offsets(self) -> dict[Value, Range]:
        """How far from their bases pointers lead, in elements."""
        offsets: dict[Value, Range] = {}
        nowhere = Range(0, 0)
        for op in self.func.walk():
            match op:
                case ops.AddPtr():
                    start, offset = offsets.get(op.pointer, nowhere), self._ranges[op.offset]
                    offsets[op.result] = Range(start.low + offset.low, start.high + offset.high)
                case ops.Splat() | ops.Reshape() | ops.Transpose() | ops.Broadcast() if op.source in offsets:
                    offsets[op.result] = offsets[op.source]
        return offsets

    @cached_property
    def _ranges(self) -> dict[Value, Range]:
        return value_ranges(self.func, Target())

    @cached_property
    def _axes(self) -> dict[Value, AxisInfo]:
        return axis_info(self.func, self._ranges)


def forward(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Replace loads by values that are known to be in memory."""
    forwarder = _Forwarder(func)
    body = forwarder.block(func.body)
    if body is func.body:
        return func, ()
    done = replace(func, body=body, next_value=forwarder.ids.value, next_inline=forwarder.ids.inline)
    return done, tuple(forwarder.changes)
