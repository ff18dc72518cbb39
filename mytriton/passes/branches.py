"""Identities of control flow, and of what a constant mask decides."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.ir import ops
from mytriton.ir.core import Block, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.passes.rewrite import Match, Replacement, Splice, rule, rules_in
from mytriton.passes.slots import without_carried, without_results
from mytriton.types import is_bool, shape_of


def _inlined(op: Op, block: Block, arguments: Sequence[Value] = (), results: Sequence[Value] | None = None) -> Splice:
    """The operations of a block in place of the operation it belongs to."""
    values = yielded(block) if results is None else results
    return Splice(
        block.ops[:-1],
        dict(zip(op.results, values, strict=True)),
        dict(zip(block.params, arguments, strict=True)),
    )


# --- branches ---------------------------------------------------------------------------------------------------------


@rule(ops.If)
def if_constant(op: ops.If, m: Match) -> Replacement:
    """An `if` on a constant is the branch it takes"""
    condition = m.constant(op.condition)
    if condition is None:
        return None
    return _inlined(op, op.then if condition else op.orelse)


@rule(ops.If)
def if_same(op: ops.If, m: Match) -> Replacement:
    """What both branches yield, and `true` in one and `false` in the other, needs no `if`"""
    found: dict[Value, Value] = {}
    for result, first, second in zip(op.results, yielded(op.then), yielded(op.orelse), strict=True):
        numbers = m.constant(first), m.constant(second)
        if first is second:
            found[result] = first
        elif m.same(first, second):
            assert numbers[0] is not None
            found[result] = m.number(numbers[0], result.type)
        elif is_bool(result.type) and numbers == (True, False):
            found[result] = m.splat(op.condition, shape_of(result.type))
        elif is_bool(result.type) and numbers == (False, True):
            found[result] = m.splat(m.build(ops.Not(source=op.condition)), shape_of(result.type))
    if not found:
        return None
    rest = without_results(op, [r not in found for r in op.results])
    return Splice((rest,), found, simpler=rest)


# --- loops ------------------------------------------------------------------------------------------------------------


def trip_count(lower: int, upper: int, step: int) -> int:
    """How often a loop of constant bounds runs."""
    if step == 0:
        return 0
    return max(0, (upper - lower + step + (-1 if step > 0 else 1)) // step)


def _trips(op: ops.For, m: Match) -> int | None:
    """How often a loop runs, if that is known."""
    lower, upper, step = (m.constant(v) for v in (op.lower, op.upper, op.step))
    if op.lower is op.upper or step == 0:
        return 0
    if not (isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int)):
        return None
    return trip_count(lower, upper, step)


@rule(ops.For)
def for_no_trip(op: ops.For, m: Match) -> Replacement:
    """A loop that makes no trip is its initial values"""
    return Splice((), dict(zip(op.results, op.initial, strict=True))) if _trips(op, m) == 0 else None


@rule(ops.For)
def for_one_trip(op: ops.For, m: Match) -> Replacement:
    """A loop of one trip is its body"""
    return _inlined(op, op.body, (op.lower, *op.initial)) if _trips(op, m) == 1 else None


@rule(ops.While)
def while_false(op: ops.While, m: Match) -> Replacement:
    """A loop whose condition is false makes no trip"""
    if m.constant(yielded(op.condition)[0]) is not False:
        return None
    return _inlined(op, op.condition, op.initial, op.initial)


@rule(ops.For, ops.While)
def carried_unchanged(op: ops.For | ops.While, m: Match) -> Replacement:
    """A carried value that no trip changes is its initial value"""
    params = op.carried if isinstance(op, ops.For) else op.body.params
    lasts = yielded(op.body)
    same = [last is p or m.same(last, first) for p, last, first in zip(params, lasts, op.initial, strict=True)]
    if not any(same):
        return None
    rest = without_carried(op, [not s for s in same])
    results = {r: first for r, first, s in zip(op.results, op.initial, same, strict=True) if s}
    values = {p: first for p, first, s in zip(params, op.initial, same, strict=True) if s}
    if isinstance(op, ops.While):
        values |= {p: first for p, first, s in zip(op.condition.params, op.initial, same, strict=True) if s}
    return Splice((rest,), results, values, rest)


# --- masks ------------------------------------------------------------------------------------------------------------


@rule(ops.Load)
def load_constant_mask(op: ops.Load, m: Match) -> Replacement:
    """A load under a mask that is true needs none; one under a mask that is false is `other`"""
    mask = None if op.mask is None else m.constant(op.mask)
    if mask is None or op.volatile:
        return None
    if mask:
        return m.build(op.evolve(mask=None, other=None, results=()))
    return m.zero(op.result.type) if op.other is None else op.other


@rule(ops.Store)
def store_constant_mask(op: ops.Store, m: Match) -> Replacement:
    """A store under a mask that is true needs none; one under a mask that is false does nothing"""
    mask = None if op.mask is None else m.constant(op.mask)
    if mask is None:
        return None
    rest = op.evolve(mask=None)
    return Splice((rest,), simpler=rest) if mask else Splice()


@rule(ops.Assert)
def assert_true(op: ops.Assert, m: Match) -> Replacement:
    """An assertion that always holds does nothing"""
    return Splice() if m.constant(op.condition) is True else None


RULES = rules_in(globals())
