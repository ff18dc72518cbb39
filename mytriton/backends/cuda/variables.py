"""Which values share a C++ variable: those that follow each other as one name of the author's does.

A carried value is a block's parameter, the result of the loop, and, where no one still needs the old value when the new
one is made, also what the trip yields and the initial value: then nothing is copied at the end of a trip. The same
holds for the result of an `if` and what its branches yield.

Two values may share a variable unless one is made while the other is still needed (liveness and coalescing: Appel,
"Modern Compiler Implementation", chapters 10 and 11). Only values that structured operations pass on are looked at, so
kernels without any cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mytriton.backends.cuda.facts import VIEWS, Facts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.loops import Loop, Part, Structure
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.layout.ops import Finish
from mytriton.records import dataclass

#: Where a variable is declared: the structured operations around it, by number, each with the number of the block.
Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Variable:
    """A C++ variable: the values it holds, the first of which declares it, its scope, and what the author calls it.
    `carried` if a structured operation assigns it."""

    values: tuple[Value, ...]
    scope: Scope
    hints: tuple[str, ...]
    carried: bool


class Variables:
    """The variable of every value that has one (parameters of the function are their own)."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._scopes: dict[Value, Scope] = {}  # in the order in which values are made
        structures = list(self._look(facts.parts, ()))
        self._parent: dict[Value, Value] = {}  # a forest of the values that are looked at; a root stands for its tree
        self._clashes: dict[Value, set[Value]] = {}  # of roots
        self._insides: dict[Structure, set[Value]] = {}
        finished = [op for s in structures for b in s.op.regions for op in b.ops if isinstance(op, Finish)]
        self._track(structures)
        self._parent.update((v, v) for done in finished for v in (done.source, done.result) if v not in self._parent)
        self._clashes = {v: set() for v, parent in self._parent.items() if v is parent}
        if structures:
            self._backward(facts.parts, set())
        for structure in structures:
            self._join_yielded(structure)
        for structure in structures:
            for value, result in zip(_initial(structure.op), structure.op.results, strict=False):
                self._join(result, value)
        for done in finished:
            self._join(done.result, done.source)
        passed = {v for s in structures for v in (*s.op.results, *(p for b in s.op.regions for p in b.params))}
        self._views: dict[Value, list[Value]] = {}  # what only looks at a value in another shape may name it, too
        for op in facts.definitions.values():
            if isinstance(op, VIEWS) and facts.named(op.result) is not op.result:
                self._views.setdefault(facts.named(op.result), []).append(op.result)
        groups: dict[Value, list[Value]] = {}
        for value in self._scopes:
            groups.setdefault(self._root(value), []).append(value)
        made = (self._variable(tuple(group), passed) for group in groups.values())
        self._variables = {value: variable for variable in made for value in variable.values}

    def _variable(self, values: tuple[Value, ...], passed: set[Value]) -> Variable:
        first = sorted(values, key=lambda v: v not in passed)  # the name of a carried value says more
        named = (*first, *(view for v in first for view in self._views.get(v, ())))
        hints = tuple(dict.fromkeys(v.hint for v in named if v.hint))
        return Variable(values, self._scopes[values[0]], hints, first[0] in passed)

    def get(self, value: Value) -> Variable | None:
        """The variable of a value; None for a parameter of the function."""
        return self._variables.get(value)

    def all(self) -> list[Variable]:
        """Every variable, in the order in which they are declared."""
        return list(dict.fromkeys(self._variables.values()))

    def _look(self, parts: Sequence[Part], scope: Scope) -> Iterable[Structure]:
        """Note every value and its scope; the structured operations, inner before outer."""
        for number, part in enumerate(parts):
            op = part.op if not isinstance(part, Loop) else None
            if isinstance(part, Structure):
                carried = part.op.carried if isinstance(part.op, ops.For) else part.op.regions[0].params
                both = part.op.body.params if isinstance(part.op, ops.While) else ()
                self._scopes.update((v, scope) for v in (*carried, *both, *part.op.results))
                if isinstance(part.op, ops.For):
                    self._scopes[part.op.induction] = (*scope, number, 0)
                for which, block in enumerate(part.blocks):
                    yield from self._look(block, (*scope, number, which if isinstance(part.op, ops.If) else 0))
                yield part
            else:
                made = part.ops if isinstance(part, Loop) else (op,)
                self._scopes.update((v, scope) for o in made if o is not None for v in o.results)

    # --- what is needed where -----------------------------------------------------------------------------------------

    def _track(self, structures: Sequence[Structure]) -> None:
        for op in (s.op for s in structures):
            for position, result in enumerate(op.results):
                self._parent[result] = result
                for params in _carried(op):
                    self._parent[params[position]] = result
        inductions = {s.op.induction for s in structures if isinstance(s.op, ops.For)}
        for op in (s.op for s in structures):
            for value in map(self._facts.named, (*_initial(op), *(v for b in op.regions for v in yielded(b)))):
                if value in self._scopes and value not in inductions:
                    self._parent.setdefault(value, value)

    def _root(self, value: Value) -> Value:
        while (parent := self._parent.get(value, value)) is not value:
            value = parent
        return value

    def _roots(self, values: Iterable[Value]) -> set[Value]:
        return {self._root(v) for v in values if v in self._parent}

    def _read(self, values: Iterable[Value]) -> set[Value]:
        return self._roots(v for v, _ in self._facts.leaves(values))

    def _inside(self, structure: Structure) -> set[Value]:
        """What the blocks of a structured operation, or the bounds of a loop, read of what was made before it."""
        if structure not in self._insides:
            op = structure.op
            read = self._read((op.lower, op.upper, op.step)) if isinstance(op, ops.For) else set()
            made = self._roots(op.results)
            for region, block in zip(op.regions, structure.blocks, strict=True):
                read |= self._read(yielded(region))
                for part in block:
                    if isinstance(part, Structure):
                        read |= self._inside(part)
                    for inner in part.ops if isinstance(part, Loop) else (part.op,):
                        read |= self._read(inner.operands)
                        made |= self._roots(inner.results)
            self._insides[structure] = read - made
        return self._insides[structure]

    def _backward(self, parts: Sequence[Part], live: set[Value]) -> set[Value]:
        """What is needed before the parts, given what is needed after them; notes the clashes."""
        for part in reversed(parts):
            if isinstance(part, Structure):
                live = self._structure(part, live)
                continue
            members = part.ops if isinstance(part, Loop) else (part.op,)
            # What is read in other registers than the one at work is needed until the last trip; by an exchange, all
            # but what a product is added to.
            in_step = [o for op in members for o in (op.operands if isinstance(part, Loop) else _added_to(op))]
            whole = [] if isinstance(part, Loop) else [v for op in members for v in _exchanged(op)]
            read = [(v, elsewhere) for v, elsewhere in self._facts.leaves(in_step) if elsewhere]
            live = live | self._roots(v for v, _ in (*read, *self._facts.leaves(whole)))
            for op in reversed(members):
                live = self._make(op, live) | self._read(op.operands)
        return live

    def _structure(self, structure: Structure, live: set[Value]) -> set[Value]:
        op = structure.op
        results = self._roots(op.results)
        after = self._make(op, live | results)
        if isinstance(op, ops.If):
            before = self._read(op.operands)
            for region, block in zip(op.regions, structure.blocks, strict=True):
                before |= self._backward(block, after | self._read(yielded(region)))
            return before
        # The variables of a loop are assigned over and over, while all that its blocks read must stay.
        always = after | self._inside(structure)
        self._make(op, always | results)
        start = self._backward(structure.blocks[-1], always | self._read(yielded(op.body)))
        if isinstance(op, ops.While):
            self._backward(structure.blocks[0], always | start | results | self._read(yielded(op.condition)))
        return always | self._read(op.operands)

    def _make(self, op: Op, live: set[Value]) -> set[Value]:
        """What is needed before the results are made, but for the operands, if `live` is needed after."""
        results = self._roots(op.results)
        for value in results:
            for other in live - {value}:
                self._clashes[value].add(other)
                self._clashes[other].add(value)
        return live - results

    # --- joining ------------------------------------------------------------------------------------------------------

    def _join_yielded(self, structure: Structure) -> None:
        blocks = structure.op.regions if isinstance(structure.op, ops.If) else (structure.op.body,)
        for block in blocks:
            for value, result in zip(yielded(block), structure.op.results, strict=True):
                self._join(result, value)

    def _join(self, result: Value, given: Value) -> None:
        value = self._facts.named(given)
        if value not in self._parent or self._kind(value) != self._kind(result):
            return
        kept, gone = self._root(result), self._root(value)
        if kept is gone or gone in self._clashes[kept]:
            return
        self._parent[gone] = kept
        for other in self._clashes.pop(gone):
            self._clashes[other].discard(gone)
            self._clashes[other].add(kept)
            self._clashes[kept].add(other)

    def _kind(self, value: Value) -> tuple[str, int]:
        return c_type(value.type), self._facts.registers(value)


def _carried(op: Op) -> list[tuple[Value, ...]]:
    """The parameters of blocks that are carried values."""
    if isinstance(op, ops.For):
        return [op.carried]
    return [block.params for block in op.regions] if isinstance(op, ops.While) else []


def _added_to(op: Op) -> tuple[Value, ...]:
    match op:
        case ops.Dot():
            return (op.acc,)
        case Finish():
            return (op.source,)
    return ()


def _exchanged(op: Op) -> tuple[Value, ...]:
    """What other threads need of the operands, perhaps in several rounds; one of them may be what is added to."""
    match op:
        case ops.Dot():
            return op.lhs, op.rhs
        case Finish():
            return ()
    return op.operands


def _initial(op: Op) -> tuple[Value, ...]:
    return op.initial if isinstance(op, (ops.For, ops.While)) else ()
