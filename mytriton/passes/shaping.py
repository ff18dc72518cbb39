"""Identities of operations that move or combine the elements of a block."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.passes.rewrite import Match, Replacement, rule, rules_in
from mytriton.types import ScalarType, element_of, f16, is_float, shape_of


@rule(ops.Transpose)
def trans_same(op: ops.Transpose, m: Match) -> Replacement:
    """A transposition that leaves the axes in order is its operand"""
    return op.source if op.order == tuple(range(len(op.order))) else None


@rule(ops.Reshape)
def reshape_reshape(op: ops.Reshape, m: Match) -> Replacement:
    """A reshape of a reshape is one"""
    inner = m.definition(op.source)
    return m.build(ops.Reshape(source=inner.source, shape=op.shape)) if isinstance(inner, ops.Reshape) else None


@rule(ops.Broadcast)
def broadcast_broadcast(op: ops.Broadcast, m: Match) -> Replacement:
    """A broadcast of a broadcast is one"""
    inner = m.definition(op.source)
    return m.build(ops.Broadcast(source=inner.source, shape=op.shape)) if isinstance(inner, ops.Broadcast) else None


@rule(ops.Transpose)
def trans_trans(op: ops.Transpose, m: Match) -> Replacement:
    """A transposition of a transposition is one"""
    inner = m.definition(op.source)
    if not isinstance(inner, ops.Transpose):
        return None
    return m.build(ops.Transpose(source=inner.source, order=tuple(inner.order[axis] for axis in op.order)))


@rule(ops.Reshape, ops.Broadcast, ops.Transpose)
def shape_splat(op: ops.Reshape | ops.Broadcast | ops.Transpose, m: Match) -> Replacement:
    """A block of one scalar stays one, whatever its shape"""
    scalar = m.scalar(op.source)
    return None if scalar is None else m.splat(scalar, shape_of(op.result.type))


# --- reductions -------------------------------------------------------------------------------------------------------


def _extent(op: ops.Reduce) -> int:
    return shape_of(op.source.type)[op.axis]


@rule(ops.Reduce)
def reduce_one(op: ops.Reduce, m: Match) -> Replacement:
    """A reduction of one element is that element"""
    if _extent(op) != 1:
        return None
    return m.build(ops.Reshape(source=op.source, shape=shape_of(op.result.type)))


@rule(ops.Reduce)
def reduce_constant(op: ops.Reduce, m: Match) -> Replacement:
    """A reduction of equal constants is a constant"""
    number = m.constant(op.source)
    element = element_of(op.source.type)
    if number is None or not isinstance(element, ScalarType):
        return None
    import numpy as np  # see `fold.constant`

    from mytriton.ir.arithmetic import DTYPES, evaluate

    # Both halves of the tree are equal at each step, so one element stands for all.
    step = ops.COMBINE[op.combine](lhs=op.source, rhs=op.source)
    value = np.array(number, DTYPES[element])
    with np.errstate(all="ignore"):
        for _ in range(_extent(op).bit_length() - 1):
            value = evaluate(step, [value, value])
    return m.number(value.item() if element.kind != "float" else float(value), op.result.type)


@rule(ops.Reduce)
def reduce_splat(op: ops.Reduce, m: Match) -> Replacement:
    """The maximum, minimum, `&` or `|` of equal elements is one of them, their `^` is 0 and their sum is x * n"""
    scalar, n, shape = m.scalar(op.source), _extent(op), shape_of(op.result.type)
    if scalar is None:
        return None
    match op.combine:
        case "add" if not is_float(scalar.type):
            element = element_of(scalar.type)
            assert isinstance(element, ScalarType)
            wrapped = (n - element.low) % (1 << element.bits) + element.low
            return m.splat(m.build(ops.Mul(lhs=scalar, rhs=m.number(wrapped, element))), shape)
        case "add" if n < 1 << 15 or scalar.type != f16:  # x + x is exact, unless both sides overflow
            return m.splat(m.build(ops.Mul(lhs=scalar, rhs=m.number(float(n), scalar.type))), shape)
        case "xor":
            return m.zero(op.result.type)
        case "add" | "mul":
            return None
    return m.splat(scalar, shape)


RULES = rules_in(globals())
